package reviewer

import "testing"

func TestRiskyCode(t *testing.T) {
	t.Parallel()
	runRule(t, "risky-code", []ruleTest{
		{"Go TLS", one("a.go", "InsecureSkipVerify: true,"), []string{"warning a.go:10 Certificate check turned off"}},
		{"Python TLS", one("a.py", "requests.get(url, verify=False)"), []string{"warning a.py:10 Certificate check turned off"}},
		{"Node TLS", one("a.js", "rejectUnauthorized: false"), []string{"warning a.js:10 Certificate check turned off"}},
		{"curl TLS", one("a.sh", "curl -sk https://x.example"), []string{"warning a.sh:10 Certificate check turned off"}},
		{"eval", one("a.js", "eval(input)"), []string{"warning a.js:10 `eval` of text"}},
		{"React", one("a.tsx", "<div dangerouslySetInnerHTML={{__html: x}} />"), []string{"warning a.tsx:10 HTML put in unescaped"}},
		{"DOM", one("a.js", "el.innerHTML = text"), []string{"warning a.js:10 HTML put in unescaped"}},
		{"shell", one("a.py", "subprocess.run(cmd, shell=True)"), []string{"warning a.py:10 Command goes through a shell"}},
		{"Go shell", one("a.go", `exec.Command("sh", "-c", input)`), []string{"warning a.go:10 Command goes through a shell"}},
		{"chmod", one("a.sh", "chmod -R 777 /srv"), []string{"warning a.sh:10 Everyone may write"}},
		{"Go mode", one("a.go", `os.MkdirAll(dir, 0o777)`), []string{"warning a.go:10 Everyone may write"}},
		{"Go SQL", one("a.go", `q := fmt.Sprintf("SELECT a FROM b WHERE c = '%s'", x)`), []string{"warning a.go:10 SQL put together from text"}},
		{"concatenated SQL", one("A.java", `"SELECT a FROM b WHERE c = '" + name + "'"`), []string{"warning A.java:10 SQL put together from text"}},
		{"template SQL", one("a.ts", "db.query(`DELETE FROM a WHERE b = ${id}`)"), []string{"warning a.ts:10 SQL put together from text"}},
		{"Python SQL", one("a.py", `cur.execute(f"SELECT a FROM b WHERE c = '{x}'")`), []string{"warning a.py:10 SQL put together from text"}},
		{"Go error", one("a.go", "	_ = err"), []string{"warning a.go:10 Error swallowed"}},
		{"empty catch", one("a.ts", "} catch (e) {}"), []string{"warning a.ts:10 Error swallowed"}},
		{"empty catch over two lines", one("A.java", "} catch (Exception e) {", "}"), []string{"warning A.java:10 Error swallowed"}},
		{"except pass", one("a.py", "except Exception:", "    pass"), []string{"warning a.py:10 Error swallowed"}},
		{"bare except", one("a.py", "except:", "    log(1)"), []string{"info a.py:10 Bare `except`"}},
		{"yaml", one("a.py", "yaml.load(text)"), []string{"warning a.py:10 `yaml.load` without a safe loader"}},

		{"check on", one("a.go", "InsecureSkipVerify: false,"), nil},
		{"configurable", one("a.go", "InsecureSkipVerify: cfg.Insecure,"), nil},
		{"test", one("a_test.go", "InsecureSkipVerify: true,", "_ = err"), nil},
		{"methods called eval", one("a.py", "model.eval()", "ast.literal_eval(x)", "df.eval(x)"), nil},
		{"retrieval is no eval", one("a.js", "retrieval(x)", "redis.eval(script)"), nil},
		{"constant HTML", one("a.js", `el.innerHTML = ""`, "if (el.innerHTML === x) {"), nil},
		{"parameters", one("a.go", `db.Query("SELECT a FROM b WHERE c = $1", x)`, `"SELECT a FROM b WHERE " +`), nil},
		{"tagged template", one("a.ts", "sql`SELECT a FROM b WHERE c = ${id}`"), nil},
		{"handled", one("a.ts", "} catch (e) {", "  log(e)", "}"), nil},
		{"catch with a reason", one("a.ts", "} catch { // the file may be gone", "}"), nil},
		{"clean-up and raise", one("a.py", "except:", "    close()", "    raise"), nil},
		{"eval in a string", one("a.py", `run("exec(%r)" % src)`), nil},
		{"named exception", one("a.py", "except KeyError:", "    pass"), nil},
		{"exception handled", one("a.py", "except Exception as e:", "    raise X from e"), nil},
		{"safe yaml", one("a.py", "yaml.load(text, Loader=yaml.SafeLoader)", "yaml.safe_load(x)"), nil},
		{"careful modes", one("a.sh", "chmod 755 a", "echo 777"), nil},
		{"comment", one("a.js", "// never eval(input)"), nil},
		{"fixed command", one("a.go", `exec.Command("sh", "-c", "ls | wc -l")`), nil},
		{"document", one("a.md", "eval(input)"), nil},
	})
}
