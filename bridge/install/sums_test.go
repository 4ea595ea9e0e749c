package install

import (
	"errors"
	"strings"
	"testing"
)

func TestParseSums(t *testing.T) {
	t.Parallel()
	const name = "cursor-sdk-bridge-standalone-linux-x64.tar.gz"
	sum, other := strings.Repeat("0a", 32), strings.Repeat("ff", 32)
	for _, tt := range []struct {
		name string
		file string
		want string // empty: refused
	}{
		{"text mark", sum + "  " + name + "\n", sum},
		{"binary mark", sum + " *" + name + "\n", sum},
		{"no newline at the end", sum + "  " + name, sum},
		{"CRLF", other + "  a\r\n" + sum + "  " + name + "\r\n", sum},
		{"upper-case hex", strings.ToUpper(sum) + "  " + name + "\n", sum},
		{"dot slash", sum + "  ./" + name + "\n", sum},
		{"among others", other + "  a\n\n" + sum + "  " + name + "\n" + other + "  b\n", sum},

		{"empty", "", ""},
		{"not named", other + "  a\n", ""},
		{"named twice with one sum", sum + "  " + name + "\n" + sum + "  " + name + "\n", ""},
		{"named twice with two sums", sum + "  " + name + "\n" + other + "  " + name + "\n", ""},
		{"named twice in two ways", sum + "  " + name + "\n" + other + " *./" + name + "\n", ""},
		{"longer name", sum + "  " + name + ".sig\n", ""},
		{"shorter name", sum + "  tar.gz\n", ""},
		{"in a folder", sum + "  dist/" + name + "\n", ""},
		{"one space", sum + " " + name + "\n", ""},
		{"tab", sum + "\t" + name + "\n", ""},
		{"three spaces", sum + "   " + name + "\n", ""},
		{"leading space", " " + sum + "  " + name + "\n", ""},
		{"trailing space", sum + "  " + name + " \n", ""},
		{"short sum", sum[2:] + "  " + name + "\n", ""},
		{"long sum", sum + "00  " + name + "\n", ""},
		{"SHA-512", sum + sum + "  " + name + "\n", ""},
		{"not hex", strings.Repeat("zz", 32) + "  " + name + "\n", ""},
		{"BSD form", "SHA256 (" + name + ") = " + sum + "\n", ""},
		{"escaped name", `\` + sum + "  " + name + "\n", ""},
		{"bad line elsewhere", "<html>\n" + sum + "  " + name + "\n", ""},
		{"byte order mark", "\ufeff" + sum + "  " + name + "\n", ""},
		{"only a sum", sum + "\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseSums([]byte(tt.file), name)
			if got != tt.want || (tt.want == "") != errors.Is(err, ErrSums) {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// FuzzParseSums: what is accepted is a sum that stands in the file before the
// name, and no other line names it.
func FuzzParseSums(f *testing.F) {
	f.Add([]byte(strings.Repeat("0a", 32)+"  a\n"), "a")
	f.Add([]byte(strings.Repeat("0A", 32)+" *./a\r\n\n"), "a")
	f.Add([]byte(strings.Repeat("0a", 32)+"  a\n"+strings.Repeat("0b", 32)+"  a\n"), "a")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		got, err := parseSums(data, name)
		if err != nil {
			if !errors.Is(err, ErrSums) || got != "" {
				t.Errorf("got %q, %v", got, err)
			}
			return
		}
		if len(got) != 64 || got != strings.ToLower(got) {
			t.Fatalf("%q is no sum", got)
		}
		lower := strings.ToLower(string(data))
		if !strings.Contains(lower, got+" ") {
			t.Errorf("%q is not in the file", got)
		}
		if n := strings.Count(string(data), name); name != "" && n < 1 {
			t.Errorf("%q is not in the file", name)
		}
	})
}
