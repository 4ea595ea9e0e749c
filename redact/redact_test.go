package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/redact"
)

func TestKnownShapes(t *testing.T) {
	t.Parallel()
	// The credentials are put together at run time so that no scanner takes this file for a leak.
	tests := []struct{ name, secret, text, want string }{
		{"GitHub installation token", "ghs_" + strings.Repeat("a1B2", 9), "token %s used", "token [redacted] used"},
		{"GitHub personal token", "github_pat_" + strings.Repeat("a1B2", 9), "%s", "[redacted]"},
		{"Slack bot token", "xoxb-" + "123456789012-abcdefABCDEF", "t=%s.", "t=[redacted]."},
		{"Slack rotated token", "xoxe.xoxp-" + "1-abcdefABCDEF", "%s", "[redacted]"},
		{"Slack app token", "xapp-" + "1-A0-abcdef0123456789", "%s", "[redacted]"},
		{"Slack webhook", "T0/B0/" + "xyz", "https://hooks.slack.com/services/%s", "https://hooks.slack.com/services/[redacted]"},
		{"answer to a click", "T0/12/" + "xyz", "https://hooks.slack.com/actions/%s expired", "https://hooks.slack.com/actions/[redacted] expired"},
		{"answer to a command in JSON", `T0\/12\/` + "xyz", `"https:\/\/hooks.slack.com\/commands\/%s"`, `"https:\/\/hooks.slack.com\/commands\/[redacted]"`},
		{"answer to a command in a form", "T0%2F12%2F" + "xyz", "https%%3A%%2F%%2Fhooks.slack.com%%2Fcommands%%2F%s&x=1", "https%3A%2F%2Fhooks.slack.com%2Fcommands%2F[redacted]&x=1"},
		{"answer to a click of a government's", "T0/12/" + "xyz", "https://hooks.slack-gov.com/app-actions/%s", "https://hooks.slack-gov.com/app-actions/[redacted]"},
		{"AWS key id", "AKIA" + "IOSFODNN7EXAMPLQ", "id %s!", "id [redacted]!"},
		{"model key", "sk-" + strings.Repeat("x", 40), "key %s", "key [redacted]"},
		{"JWT", "eyJ" + "hbGciOiJSUzI1NiJ9.eyJ" + "pc3MiOiIxMjM0NSJ9.c2ln", "jwt %s", "jwt [redacted]"},
		{"clone URL", "x-access-token:abc", "https://%s@github.com/o/r.git", "https://[redacted]@github.com/o/r.git"},
		{"authorization header", "c2VjcmV0OnNlY3JldA", "Authorization: Basic %s", "Authorization: Basic [redacted]"},
		{"authorization header without a scheme", "abcdef123456", `"authorization": "%s"`, `"authorization": "[redacted]"`},
		{"authorization of a Go header", "abcdef123456", `map[Authorization:[token %s]]`, `map[Authorization:[token [redacted]]]`},
		{"bearer in prose", "abcdef-123456-XYZ", "sent bearer %s to it", "sent bearer [redacted] to it"},
		{"private key", "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "key: %s.", "key: [redacted]."},
		{"private key on one line", "-----BEGIN PRIVATE " + `KEY-----\nMIIE\n-----END PRIVATE KEY-----`, "%s", "[redacted]"},
		{"private key that is cut off", "-----BEGIN EC PRIVATE " + "KEY-----\nMIIE", "see %s", "see [redacted]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var r *redact.Redactor
			if got := r.String(fmt.Sprintf(tt.text, tt.secret)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHarmlessTextIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"",
		"see https://github.com/octo/shop/pull/7#issuecomment-1 and mail a@b.example",
		"the bearer of this message",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"task-force, xoxo, ghost_writer",
		"authorization is checked in handlers",
	} {
		if got := redact.New("unrelated secret").String(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestRegisteredSecrets(t *testing.T) {
	t.Parallel()
	const secret = `p@ss "word"/with\odd+<chars>`
	r := redact.New(secret, "dev", "  padded-value\n", "key line one that is long enough to matter\nrest")
	for name, text := range map[string]string{
		"plain":              "a " + secret + " b",
		"JSON":               `{"s":"p@ss \"word\"/with\\odd+\u003cchars\u003e"}`,
		"JSON for people":    `{"s":"p@ss \"word\"/with\\odd+<chars>"}`,
		"a Go literal":       fmt.Sprintf("%q", secret),
		"HTML":               `p@ss &#34;word&#34;/with\odd+&lt;chars&gt;`,
		"base64":             base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64, no padding": base64.RawStdEncoding.EncodeToString([]byte(secret)),
		"base64 for URLs":    base64.URLEncoding.EncodeToString([]byte(secret)),
		"hex":                hex.EncodeToString([]byte(secret)),
		"query":              "x=p%40ss+%22word%22%2Fwith%5Codd%2B%3Cchars%3E",
		"trimmed":            "padded-value",
		"a key's line":       "key line one that is long enough to matter",
	} {
		got := r.String(text)
		if !strings.Contains(got, redact.Mask) || strings.Contains(got, "word") || strings.Contains(got, "padded") || strings.Contains(got, "line one") {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
	if got := r.String("dev"); got != "dev" {
		t.Errorf("a short value was masked: %q", got)
	}
}

func TestSecretInsideAnotherIsMaskedWhole(t *testing.T) {
	t.Parallel()
	r := redact.New("abcdef", "abcdefghij")
	if got := r.String("<abcdefghij>"); got != "<"+redact.Mask+">" {
		t.Errorf("got %q", got)
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	t.Parallel()
	r := redact.New("hunter2hunter2")
	err := r.Error(fmt.Errorf("open hunter2hunter2: %w", fs.ErrNotExist))
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("leaked: %v", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	if r.Error(nil) != nil {
		t.Error("nil became an error")
	}
}

func TestHandlerMasksEveryAttribute(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	r := redact.New(secret)
	type config struct{ Token string }
	var out bytes.Buffer
	log := slog.New(redact.Handler(slog.NewJSONHandler(&out, nil), r)).With("with", secret)
	log.WithGroup("g").Info("message "+secret,
		"string", secret, "error", errors.New(secret), "struct", config{secret}, "pointer", &config{secret},
		"bytes", []byte(secret), slog.Group("nested", "deep", secret), "count", 3)
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("leaked: %s", out.String())
	}
	if !strings.Contains(out.String(), `"count":3`) {
		t.Errorf("numbers changed: %s", out.String())
	}
}

func FuzzRegisteredSecretNeverSurvives(f *testing.F) {
	f.Add("hunter2hunter2", "before ", " after")
	f.Add(`a"b\c/d e`, `{"k":"`, `"}`)
	f.Add("ghs_abcdefghijklmnop", "https://x:", "@h")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		trimmed := strings.TrimSpace(secret)
		if len(trimmed) < 6 || strings.Contains(redact.Mask, trimmed) {
			t.Skip("too short to be registered, or part of the mask")
		}
		got := redact.New(secret).String(before + secret + after)
		if strings.Contains(strings.ReplaceAll(got, redact.Mask, "\x00"), trimmed) {
			t.Errorf("%q survived in %q", trimmed, got)
		}
	})
}

func BenchmarkStringWithoutSecrets(b *testing.B) {
	r := redact.New("hunter2hunter2", strings.Repeat("k", 1600))
	text := strings.Repeat("an ordinary line of a review, with code.Call(x) and a path/to/file.go:12\n", 50)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.String(text)
	}
}
