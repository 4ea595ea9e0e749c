package command

import (
	"runtime"
	"strings"
)

// system are the variables without which programs do not work on Windows. The
// other systems have none.
var system = map[string][]string{
	"windows": {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "PROCESSOR_ARCHITECTURE"},
}

// environment is all that a tool gets, and what of it is secret.
func (c *Command) environment(call Call, private string) (env, secrets []string) {
	set := func(name, value string) {
		env = append(env, name+"="+strings.ReplaceAll(value, "\x00", ""))
	}
	for _, name := range append([]string{"PATH"}, system[runtime.GOOS]...) {
		if value, ok := c.options.LookupEnv(name); ok {
			set(name, value)
		}
	}
	set("LANG", "C.UTF-8")
	for _, name := range c.options.Env {
		value, ok := c.options.LookupEnv(name)
		if !ok {
			continue
		}
		set(name, value)
		if secret(name) {
			secrets = append(secrets, value)
		}
	}
	// Of two of the same name the last counts.
	set("HOME", homeOf(private))
	set("TMPDIR", tempOf(private))
	// What Python compiled before is no part of what was read of the folder, so that
	// it neither reads nor leaves any there.
	set("PYTHONPYCACHEPREFIX", tempOf(private))
	if runtime.GOOS == "windows" {
		set("USERPROFILE", homeOf(private))
		set("TEMP", tempOf(private))
		set("TMP", tempOf(private))
	}
	set("LIAISON_TOOL_CALL_ID", call.ID)
	set("LIAISON_APPROVAL_ID", call.ApprovalID)
	set("LIAISON_SESSION_ID", call.SessionID)
	set("LIAISON_SESSION_CHANNEL", call.Channel)
	set("LIAISON_SESSION_MODE", call.Mode)
	set("LIAISON_SESSION_PRINCIPAL", call.Principal)
	set("LIAISON_SUBJECT", call.Subject)
	set("LIAISON_WORKSPACE", call.Workspace)
	set("LIAISON_TOOL_DIR", c.options.StateDir)
	return env, secrets
}

// secret reports whether a variable's name says that nobody may see its value.
func secret(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH", "DSN"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
