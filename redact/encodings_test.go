package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/redact"
)

// planted are secrets of each shape, a registered one and one of a configured form,
// each with a part of it that nobody may read. They are put together at run time so
// that no scanner takes this file for a leak.
func planted() map[string][2]string {
	return map[string][2]string{
		"installation token": {"ghs_" + strings.Repeat("a1B2", 9), "a1B2a1B2"},
		"personal token":     {"github_pat_" + strings.Repeat("c3D4", 9), "c3D4c3D4"},
		"Slack token":        {"xoxb-" + "123456789012-abcdefABCDEF", "123456789012"},
		"Slack app token":    {"xapp-" + "1-A0-abcdef0123456789", "abcdef0123456789"},
		"answer to a click":  {"https://hooks.slack.com/actions/" + "T0AAAAAAA/1234567/xyzxyzxyz", "xyzxyz"},
		"AWS key id":         {"AKIA" + "IOSFODNN7EXAMPLQ", "IOSFODNN7"},
		"model key":          {"sk-" + strings.Repeat("x7", 20), "x7x7x7"},
		"JWT":                {"eyJ" + "hbGciOiJSUzI1NiJ9.eyJ" + "pc3MiOiIxMjM0NSJ9.c2lnc2ln", "hbGciOiJSUzI1NiJ9"},
		"user of a URL":      {"https://robot:" + "hunter2hunter2@git.example/x", "hunter2"},
		"header":             {"Authorization: Bearer " + "abcdef.123456.XYZ789", "abcdef.123456"},
		"basic header":       {"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("robot:hunter3hunter3")), "cm9ib3Q6"},
		"private key":        {"-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA7\nq83vX+/=\n-----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA7"},
		"registered":         {`5f1c"9f0a <7a1e>`, "<7a1e>"},
		"registered token":   {"5f1c9f0a-7a1e-4a53-9a55-0d3c5e1f7b11", "7a1e-4a53"},
		"of a form":          {"corp-" + "12345678", "12345678"},
	}
}

func planter(t testing.TB) *redact.Redactor {
	t.Helper()
	r := redact.New(`5f1c"9f0a <7a1e>`, "5f1c9f0a-7a1e-4a53-9a55-0d3c5e1f7b11")
	if err := r.AddPatterns(`corp-[0-9]{8}`); err != nil {
		t.Fatal(err)
	}
	return r
}

func jsonText(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// encodings are the ways in which we write something, and the way back.
var encodings = map[string]struct{ encode, decode func(string) string }{
	"plain":        {same, same},
	"quoted":       {func(s string) string { return fmt.Sprintf("%q", s) }, same},
	"JSON":         {jsonText, same},
	"JSON in JSON": {func(s string) string { return jsonText(`{"a":` + jsonText(s) + `}`) }, same},
	"JSON of escapes": {func(s string) string {
		var out strings.Builder
		for _, c := range s {
			fmt.Fprintf(&out, `\u%04X`, c)
		}
		return `"` + out.String() + `"`
	}, func(s string) string {
		var text string
		if json.Unmarshal([]byte(s), &text) != nil {
			return s
		}
		return text
	}},
	"query":  {url.QueryEscape, unquery},
	"path":   {url.PathEscape, unquery},
	"form":   {func(s string) string { return url.Values{"a": {"1"}, "b": {s}, "c": {"x y"}}.Encode() }, unquery},
	"base64": {func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }, unbase64},
	"base64 within": {func(s string) string {
		return "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte("some words, and then "+s+" and more"))
	}, unbase64},
	"base64 for URLs": {func(s string) string {
		return "https://example.com/" + base64.RawURLEncoding.EncodeToString([]byte("??>>"+s+"??>>"))
	}, unbase64},
	"a header of Go": {func(s string) string { return fmt.Sprint(http.Header{"X-Any": {s}, "Accept": {"*/*"}}) }, same},
}

func same(s string) string { return s }

func unquery(s string) string {
	text, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	return text
}

// unbase64 adds to a text what any part of it decodes to.
func unbase64(s string) string {
	out := s
	for word := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(" ,;:/=", c) }) {
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if raw, err := e.DecodeString(word); err == nil {
				out += "\n" + string(raw)
			}
		}
	}
	return out
}

func TestPlantedSecretsSurviveInNoEncoding(t *testing.T) {
	t.Parallel()
	r := planter(t)
	for name, secret := range planted() {
		for form, e := range encodings {
			text := e.encode(secret[0])
			if !strings.Contains(e.decode(text), secret[1]) && e.decode(text) == text && form != "JSON" && form != "JSON in JSON" && form != "quoted" {
				t.Errorf("%s as %s: the test cannot find it: %q", name, form, text)
			}
			got := r.String("before " + text + " after")
			if strings.Contains(e.decode(got), secret[1]) || strings.Contains(got, secret[1]) {
				t.Errorf("%s as %s: %q became %q", name, form, text, got)
			}
			if !strings.Contains(got, redact.Mask) || !strings.HasPrefix(got, "before ") {
				t.Errorf("%s as %s: %q became %q", name, form, text, got)
			}
			if again := r.String(got); again != got {
				t.Errorf("%s as %s: %q became %q", name, form, got, again)
			}
		}
	}
}

func TestOrdinaryWordsThatLookEncodedStay(t *testing.T) {
	t.Parallel()
	r := planter(t)
	for _, s := range []string{
		"https://example.com/search?q=a%20b%2Fc&page=2 and src/handlers/api/principal_test.go:130",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"SGVsbG8sIHRoaXMgaXMgcGxhaW4gdGV4dA== and \\u00e9\\u00e8 in C:\\temp\\new\\folder",
		"Authorization: [redacted] and https://[redacted]@example.com",
		"token-bucket, corp-1234, sk-small",
	} {
		if got := r.String(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	r := redact.New("registered")
	if err := r.AddPatterns(`key=\S+`, `[a-z]{8}-id`, `\bid:\d+`); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"key=abc rest":        "[redacted] rest",
		"key=registered-tail": "[redacted]",
		"x redacted-id":       "x [redacted]",
		"[redacted]-id":       "[redacted]-id",
		"id:17, id:x":         "[redacted], id:x",
		"abcdefgh-idkey=1":    "[redacted][redacted]",
		"":                    "",
	} {
		got := r.String(in)
		if got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if again := r.String(got); again != got {
			t.Errorf("%q became %q the second time", got, again)
		}
	}
	for _, expr := range []string{"(", "", "a*", `\b`, "^", "x|", strings.Repeat("a", redact.MaxPattern+1)} {
		if err := r.AddPatterns("fine", expr); err == nil {
			t.Errorf("the pattern %.20q was taken", expr)
		}
	}
	if got := r.String("fine"); got != "fine" {
		t.Error("of patterns that were refused one was taken")
	}
	many := make([]string, redact.MaxPatterns-2)
	for i := range many {
		many[i] = "p"
	}
	if err := r.AddPatterns(many...); err == nil {
		t.Error("more patterns than allowed were taken")
	}
	if err := r.AddPatterns(many[1:]...); err != nil {
		t.Errorf("as many patterns as allowed: %v", err)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := planter(t)
	for in, want := range map[string]string{
		`{"z":1.50,"a":[true,null,"x"],"z":{}}`:                         `{"z":1.50,"a":[true,null,"x"],"z":{}}`,
		`{"html":"<b>&</b>"}`:                                           `{"html":"<b>&</b>"}`,
		`{"password":"x","n":{"Client-Secret":12,"ok":"x"}}`:            `{"password":"[redacted]","n":{"Client-Secret":"[redacted]","ok":"x"}}`,
		`{"token":{"deep":["a",1]},"pageToken":"abc"}`:                  `{"token":{"deep":["[redacted]","[redacted]"]},"pageToken":"abc"}`,
		`{"id":"corp-12345678","corp-12345678":["\u0063orp-12345678"]}`: `{"id":"[redacted]","[redacted]":["[redacted]"]}`,
		`{"password":"","cookie":null}`:                                 `{"password":"","cookie":null}`,
		`{"broken corp-12345678`:                                        `{"broken [redacted]`,
		`{} corp-12345678`:                                              `{} [redacted]`,
		``:                                                              ``,
	} {
		got := string(r.JSON([]byte(in)))
		if got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
		if again := string(r.JSON([]byte(got))); again != got {
			t.Errorf("%s became %s the second time", got, again)
		}
	}
}

func FuzzPlantedSecretNeverSurvives(f *testing.F) {
	for i := range len(planted()) {
		f.Add("before ", " after", uint8(i), uint8(0))
		f.Add("{\"a\":\"", "\"}", uint8(i), uint8(i))
	}
	r := planter(f)
	var secrets [][2]string
	all := planted()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		secrets = append(secrets, all[name])
	}
	forms := slices.Sorted(maps.Keys(encodings))
	f.Fuzz(func(t *testing.T, before, after string, which, form uint8) {
		secret := secrets[int(which)%len(secrets)]
		e := encodings[forms[int(form)%len(forms)]]
		text := before + "\n" + e.encode(" "+secret[0]+" ") + "\n" + after
		if strings.Contains(before+after, secret[1]) {
			t.Skip("it stands around the secret, and is none there")
		}
		got := r.String(text)
		if strings.Contains(e.decode(got), secret[1]) {
			t.Errorf("%q survived: %q became %q", secret[0], text, got)
		}
		masked := string(r.JSON([]byte(got)))
		if strings.Contains(masked, secret[1]) {
			t.Errorf("%q survived as JSON: %q", secret[0], masked)
		}
		if again := r.String(got); again != got {
			t.Errorf("%q became %q the second time", got, again)
		}
	})
}
