package approvals_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/redact"
)

// show is what people see of an input.
func show(t testing.TB, input string, mask func(string) string) string {
	t.Helper()
	return call(func(r *approvals.Record) { r.Input = json.RawMessage(input) }).Show(mask).Input
}

func TestInputIsShownInItsOwnOrder(t *testing.T) {
	t.Parallel()
	const input = `{"z":[1,2.50,1e400,{}, []],"a":{"yes":true,"no":null,"text":"a\tb\n\"c\" \\ d"},"":false,"z":"again"}`
	want := `{
  "z": [
    1,
    2.50,
    1e400,
    {},
    []
  ],
  "a": {
    "yes": true,
    "no": null,
    "text": "a\tb\n\"c\" \\ d"
  },
  "": false,
  "z": "again"
}`
	if got := show(t, input, plain); got != want {
		t.Errorf("got %s", got)
	}
	for in, want := range map[string]string{`"x"`: `"x"`, `[]`: `[]`, `12`: `12`, `{"broken`: `{"broken`, ``: ``} {
		if got := show(t, in, plain); got != want {
			t.Errorf("%s is shown as %s", in, got)
		}
	}
}

// Nothing that would run is hidden from whoever approves it.
func TestNothingHidesInAnInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ value, want string }{
		"behind spaces":         {"ls" + strings.Repeat(" ", 5000) + "; rm -rf /", "ls⟨5000 spaces⟩; rm -rf /"},
		"behind a mark of ours": {"⟨5 spaces⟩", `\u{27E8}5 spaces\u{27E9}`},
		"an indented line":      {"if x:\n" + strings.Repeat(" ", 31) + "y", `if x:\n` + strings.Repeat(" ", 31) + "y"},
		"behind bidi marks":     {"safe\u202edegnahc\u202c\u2066x\u2069", `safe\u{202E}degnahc\u{202C}\u{2066}x\u{2069}`},
		"by zero width":         {"r\u200bm\u2060 -\ufeffrf\u00ad", `r\u{200B}m\u{2060} -\u{FEFF}rf\u{00AD}`},
		"in tag characters":     {"ok\U000E0072\U000E006D", `ok\u{E0072}\u{E006D}`},
		"in selectors":          {"a\ufe0f\U000E0101", `a\u{FE0F}\u{E0101}`},
		"as control characters": {"a\x1b[2K\rb\x00\x7f\u0085\u2028", `a\u{001B}[2K\rb\u{0000}\u{007F}\u{0085}\u{2028}`},
		"as other blanks":       {"a\u00a0\u2003\u3000\u3164\u2800b", `a\u{00A0}\u{2003}\u{3000}\u{3164}\u{2800}b`},
		"under many marks":      {"a" + strings.Repeat("\u0336", 5), "a\u0336\u0336\u0336" + `\u{0336}\u{0336}`},
		"as its own escape":     {`\u{202E}`, `\\u{202E}`},
		"a fence":               {"```\n</code>\n```", "```\\n</code>\\n```"},
		"words of the world":    {"naïve 日本語 עברית 👩🚀", "naïve 日本語 עברית 👩🚀"},
	} {
		for _, key := range []bool{false, true} {
			doc := map[string]string{"command": c.value}
			want := "{\n  \"command\": \"" + c.want + "\"\n}"
			if key {
				doc = map[string]string{c.value: "x"}
				want = "{\n  \"" + c.want + "\": \"x\"\n}"
			}
			raw, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(t, string(raw), plain); got != want {
				t.Errorf("%s (as a name: %t):\n got %q\nwant %q", name, key, got, want)
			}
		}
	}
}

// Sizes that no card holds are whole in the view, and what runs is what was hashed.
func TestLargeInputsAreWhole(t *testing.T) {
	t.Parallel()
	var keys strings.Builder
	for i := range 100 {
		fmt.Fprintf(&keys, `,"key%d":"value%d"`, i, i)
	}
	for name, input := range map[string]string{
		"100 keys": `{"a":1` + keys.String() + `}`,
		"200 kB":   `{"text":"` + strings.Repeat("0123456789 ", 20_000) + `the end"}`,
		"nested":   strings.Repeat(`{"a":`, 60) + `"the end"` + strings.Repeat("}", 60),
	} {
		r := call(func(r *approvals.Record) { r.Input = json.RawMessage(input) })
		v := r.Show(plain)
		var back any
		if err := json.Unmarshal([]byte(v.Input), &back); err != nil {
			t.Errorf("%s: what is shown is not whole: %v", name, err)
		}
		if v.InputHash != approvals.HashInput(r.Input) || v.InputHash != approvals.HashInput(json.RawMessage(input)) {
			t.Errorf("%s: the hash that is shown is not that of what runs", name)
		}
	}
}

// An input keeps its bytes, and with them its hash, through every store.
func TestInputIsTheSameAfterItWasStored(t *testing.T) {
	t.Parallel()
	for _, input := range []string{`{"a":1}`, "{ \"a\" :\n 1.0 }", `{"html":"<b>&</b>\u2028"}`, "{\"bad\":\"\xff\xfe\"}", `{"z":1,"a":2,"z":3}`} {
		r := call(func(r *approvals.Record) { r.Input = json.RawMessage(input) })
		for range 2 {
			raw, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var stored approvals.Record
			if err := json.Unmarshal(raw, &stored); err != nil {
				t.Fatal(err)
			}
			if string(stored.Input) != string(r.Input) || approvals.HashInput(stored.Input) != r.InputHash {
				t.Errorf("%s became %s", r.Input, stored.Input)
			}
			r = stored
		}
	}
}

// secrets are put together at run time so that no scanner takes this file for a leak.
func secrets() map[string]string {
	return map[string]string{
		"Slack token":  "xoxb-" + "123456789012-abcdefABCDEF",
		"GitHub token": "ghp_" + strings.Repeat("a1B2", 9),
		"private key":  "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA7\nq83vX\n-----END RSA PRIVATE KEY-----",
		"URL":          "https://robot:" + "hunter2hunter2@git.example/x",
		"header":       "Authorization: Bearer " + "abcdef.123456.XYZ789",
		"configured":   "5f1c9f0a-" + "7a1e-4a53-9a55-0d3c5e1f7b11",
	}
}

func masker(t testing.TB) func(string) string {
	t.Helper()
	r := redact.New("5f1c9f0a-" + "7a1e-4a53-9a55-0d3c5e1f7b11")
	if err := r.AddPatterns(`corp-[0-9]{8}`); err != nil {
		t.Fatal(err)
	}
	return r.String
}

// core is the part of a secret that nobody may read.
func core(secret string) string {
	for _, c := range []string{"123456789012", "a1B2a1B2", "MIIEpAIBAAKCAQEA7", "hunter2", "abcdef.123456", "7a1e-4a53"} {
		if strings.Contains(secret, c) {
			return c
		}
	}
	return secret
}

// The secret that made somebody ask is not what the card shows.
func TestSecretsAreMaskedInEveryPartOfAnInput(t *testing.T) {
	t.Parallel()
	mask := masker(t)
	for name, secret := range secrets() {
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		inner, err := json.Marshal(string(quoted))
		if err != nil {
			t.Fatal(err)
		}
		var split strings.Builder // every character as an escape
		for _, c := range secret {
			fmt.Fprintf(&split, `\u%04x`, c)
		}
		for form, input := range map[string]string{
			"a value":       `{"x":` + string(quoted) + `}`,
			"in a text":     `{"x":"run it with ` + strings.Trim(string(quoted), `"`) + ` and go"}`,
			"a name":        `{` + string(quoted) + `:1}`,
			"in a list":     `{"x":[["a",` + string(quoted) + `]]}`,
			"JSON in JSON":  `{"x":` + string(inner) + `}`,
			"all escapes":   `{"x":"` + split.String() + `"}`,
			"not JSON":      `{"x":` + string(quoted),
			"divided":       `{"x":"` + "\u202e" + strings.Trim(string(quoted[:len(quoted)-7]), `"`) + "\u200b" + strings.Trim(string(quoted[len(quoted)-7:]), `"`) + `"}`,
			"in other JSON": string(quoted),
		} {
			if got := show(t, input, mask); strings.Contains(got, core(secret)) || !strings.Contains(got, redact.Mask) {
				t.Errorf("%s as %s: %s", name, form, got)
			}
			r := call(func(r *approvals.Record) { r.Input = json.RawMessage(input) })
			if json.Valid([]byte(input)) && approvals.HashInput(json.RawMessage(input)) != r.InputHash {
				t.Errorf("%s as %s: what runs is not the raw value", name, form)
			}
		}
	}
	if got := show(t, `{"id":"corp-12345678","n":5,"password":"short","nested":{"token":["a",{"b":"c"}]}}`, mask); strings.Contains(got, "corp-") ||
		strings.Contains(got, "short") || strings.Contains(got, `"c"`) || !strings.Contains(got, `"n": 5`) {
		t.Errorf("got %s", got)
	}
}

// Whatever is said of a call is masked, not its input only.
func TestEveryTextOfAViewIsMasked(t *testing.T) {
	t.Parallel()
	mask := masker(t)
	for name, secret := range secrets() {
		r := call(func(r *approvals.Record) { r.Summary, r.Subject = "Runs "+secret, secret })
		b := say(approvals.Approve, member(ann))
		b.Reason = "fine, " + secret + "\u202e"
		r = cast(t, r, b, 0)
		r = took(t)(r.Begin(1, noon))
		r = took(t)(r.Finish(approvals.Outcome{Text: "used " + secret}, noon))
		v := r.Show(mask)
		v.Request = nil
		all, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(all) + v.ForAgent() + v.Status(approvals.Words{}); strings.Contains(text, core(secret)) || strings.Contains(text, "\u202e") {
			t.Errorf("%s: %s", name, text)
		}
		if !strings.Contains(r.Outcome.Text, core(secret)) {
			t.Error("the record itself was changed")
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	v := show(t, `{"text":"`+strings.Repeat("日本\\u202e", 400)+`"}`, plain)
	view := approvals.View{Input: v}
	if got, whole := view.Excerpt(len(v)); got != v || !whole {
		t.Error("what fits is not whole")
	}
	for n := -1; n < len(v); n++ {
		got, whole := view.Excerpt(n)
		if whole || len(got) > max(n, 0) {
			t.Fatalf("%d bytes: %d, whole %t", n, len(got), whole)
		}
		if got == "" {
			if n > 30 {
				t.Fatalf("nothing of %d bytes", n)
			}
			continue
		}
		text, note, _ := strings.Cut(got, "\n… ")
		if !strings.HasPrefix(v, text) || note != fmt.Sprintf("%d bytes more", len(v)-len(text)) {
			t.Fatalf("%d bytes: %q", n, got)
		}
		if at := strings.LastIndexByte(text, '\\'); at >= 0 && !strings.Contains(text[at:], "}") {
			t.Fatalf("%d bytes: an escape is divided: %q", n, text[at:])
		}
	}
}

// FuzzShowInput plants a secret into a value, a name or a text of anything: it is
// never seen, nothing that people do not see is left, and the hash is that of what
// runs.
func FuzzShowInput(f *testing.F) {
	all := secrets()
	names := slices.Sorted(maps.Keys(all))
	for i := range names {
		f.Add(`{"a":"`, `"}`, "x", uint8(i))
		f.Add(`{"`, `":[1]}`, "\u202e\u200b", uint8(i))
	}
	f.Add(`not JSON \u202e`, "\x1b", strings.Repeat(" ", 100), uint8(0))
	mask := masker(f)
	f.Fuzz(func(t *testing.T, before, after, said string, which uint8) {
		secret := all[names[int(which)%len(names)]]
		if strings.Contains(before+said+after, core(secret)) {
			t.Skip("it stands around the secret, and is none there")
		}
		inside, err := json.Marshal(said + " " + secret + " ")
		if err != nil {
			t.Fatal(err)
		}
		input := before + string(inside[1:len(inside)-1]) + after
		r := call(func(r *approvals.Record) { r.Input = json.RawMessage(input) })
		v := r.Show(mask)
		if strings.Contains(v.Input, core(secret)) {
			t.Errorf("%q survived in %q", secret, v.Input)
		}
		for _, c := range v.Input {
			if c != '\n' && c != '\t' && (!unicode.IsPrint(c) || unicode.Is(unicode.Cf, c)) {
				t.Fatalf("%q hides in %q", c, v.Input)
			}
		}
		if approvals.HashInput(r.Input) != r.InputHash || v.InputHash != r.InputHash {
			t.Error("the hash is not that of what runs")
		}
		if text, whole := v.Excerpt(100); strings.Contains(text, core(secret)) || len(text) > 100 || whole != (len(v.Input) <= 100) {
			t.Errorf("the excerpt is %q, whole %t", text, whole)
		}
	})
}
