package envfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/envfile"
)

func TestSet(t *testing.T) {
	t.Parallel()
	values := []envfile.Value{{Name: "APP_ID", Value: "42"}, {Name: "KEY", Value: "LS0t+/=="}}
	for _, c := range []struct {
		name, before string
		replace      bool
		want         string // empty when it is refused
	}{
		{name: "new file", want: "APP_ID=42\nKEY=LS0t+/==\n"},
		{name: "other lines stay", before: "# mine\nPORT=80\n\nX='a b'\n", want: "# mine\nPORT=80\n\nX='a b'\nAPP_ID=42\nKEY=LS0t+/==\n"},
		{name: "without a line end", before: "PORT=80", want: "PORT=80\nAPP_ID=42\nKEY=LS0t+/==\n"},
		{name: "taken", before: "APP_ID=1\n"},
		{name: "taken by an export", before: "export APP_ID=1\n"},
		{name: "replaced", before: "APP_ID=1\nPORT=80\nexport KEY=old\n", replace: true, want: "PORT=80\nAPP_ID=42\nKEY=LS0t+/==\n"},
		{name: "empty ones are not taken", before: "APP_ID=\n", want: "APP_ID=\nAPP_ID=42\nKEY=LS0t+/==\n"},
		{name: "a longer name is another", before: "MY_APP_ID=1\n", want: "MY_APP_ID=1\nAPP_ID=42\nKEY=LS0t+/==\n"},
		{name: "a comment sets nothing", before: "#APP_ID=1\n", want: "#APP_ID=1\nAPP_ID=42\nKEY=LS0t+/==\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), ".env")
			if c.before != "" {
				if err := os.WriteFile(path, []byte(c.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			checked := envfile.Check(path, []string{"APP_ID", "KEY"}, c.replace)
			err := envfile.Set(path, values, c.replace)
			if (checked == nil) != (err == nil) {
				t.Errorf("Check says %v and Set %v", checked, err)
			}
			want := c.want
			if want == "" {
				var taken *envfile.TakenError
				if !errors.As(err, &taken) {
					t.Fatalf("err = %v, want a TakenError", err)
				}
				want = c.before
			} else if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if c.want != "" && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v: others can read the secrets", info.Mode())
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".liaison-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A value that would need quotes is refused: readers of such files disagree about them.
func TestSetRefusesWhatNeedsQuotes(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"a b", "a\nb", "'", `"`, "$(id)", "`id`", "#", `\n`} {
		path := filepath.Join(t.TempDir(), ".env")
		if err := envfile.Set(path, []envfile.Value{{Name: "KEY", Value: value}}, false); err == nil {
			t.Errorf("%q was written", value)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%q left a file", value)
		}
	}
}

func TestSetFollowsALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link, target := filepath.Join(dir, ".env"), filepath.Join(dir, "real.env")
	if err := os.WriteFile(target, []byte("PORT=80\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := envfile.Set(link, []envfile.Value{{Name: "KEY", Value: "v"}}, false); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "PORT=80\nKEY=v\n" {
		t.Errorf("the target holds %q, %v", got, err)
	}
}
