package redeliver

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	body := `{"action": "opened"}`
	for name, c := range map[string]struct {
		saved string
		want  Delivery
	}{
		"body as text": {
			`{"event":"pull_request","id":"d-1","headers":{"content-type":"application/json","X-Hub-Signature-256":"sha256=00","Authorization":"x"},"body":"{\"action\": \"opened\"}"}`,
			Delivery{Source: GitHub, Event: "pull_request", ID: "d-1", Body: []byte(body)},
		},
		"body as JSON": {
			`{"headers":{"X-GitHub-Event":"pull_request","x-github-delivery":"d-2"},"body":{"action": "opened"}}`,
			Delivery{Source: GitHub, Event: "pull_request", ID: "d-2", Body: []byte(body)},
		},
		"as the API shows it": {
			`{"ok":true,"delivery":{"source":"slack","id":"Ev1","seq":3},"headers":{"X-Slack-Request-Timestamp":"1"},"bodyBytes":20,"body":"` +
				base64.StdEncoding.EncodeToString([]byte(body)) + `"}`,
			Delivery{Source: Slack, ID: "Ev1", Body: []byte(body)},
		},
	} {
		got, err := Parse([]byte(c.saved))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Source != c.want.Source || got.Event != c.want.Event || got.ID != c.want.ID || string(got.Body) != string(c.want.Body) {
			t.Errorf("%s: %+v", name, got)
		}
		for header := range got.Headers {
			if strings.Contains(header, "Signature") || header == "Authorization" {
				t.Errorf("%s: %s is kept", name, header)
			}
		}
	}
}

func TestParseParts(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string]string{
		"as shown":            "Accept: */*\nContent-Type: application/json\nX-GitHub-Delivery: d-1\nX-GitHub-Event: push\nX-Hub-Signature: sha1=0",
		"with a request line": "POST /webhooks/github HTTP/1.1\r\nX-GitHub-Delivery: d-1\r\nX-GitHub-Event: push\r\n\r\n",
	} {
		got, err := ParseParts([]byte(headers), []byte("{}"))
		if err != nil || got.Event != "push" || got.ID != "d-1" || got.Source != GitHub {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for saved, says := range map[string]string{
		``:                             "no saved delivery",
		`[]`:                           "no saved delivery",
		`{"event":"push"}`:             `no "body"`,
		`{"body":"{}"}`:                "where it came from",
		`{"event":"push","body":""}`:   "empty",
		`{"event":"push","body":null}`: `no "body"`,
		`{"source":"gitlab","event":"push","body":"{}"}`:                         "neither github nor slack",
		`{"source":"github","body":"{}"}`:                                        `no "event"`,
		`{"delivery":{"source":"github"},"body":"%%%"}`:                          "base64",
		`{"event":"push","headers":{"User-Agent":"a\r\nX-Evil: b"},"body":"{}"}`: "line break",
	} {
		if _, err := Parse([]byte(saved)); !errors.Is(err, ErrSaved) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", saved, err)
		}
	}
	if _, err := ParseParts([]byte("no header at all"), []byte("{}")); !errors.Is(err, ErrSaved) {
		t.Errorf("headers without names: %v", err)
	}
	if _, err := ParseParts([]byte("X-GitHub-Event: a\xff"), []byte("{}")); !errors.Is(err, ErrSaved) {
		t.Errorf("headers that are no text: %v", err)
	}
}

// The examples of the platforms' own documentation.
func TestSignatures(t *testing.T) {
	t.Parallel()
	// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
	d := &Delivery{Source: GitHub, Event: "push", ID: "d-1", Body: []byte("Hello, World!")}
	path, headers, err := d.Request("It's a Secret to Everybody", "d-2", time.Time{})
	if err != nil || path != "/webhooks/github" {
		t.Fatal(path, err)
	}
	if got := headers.Get("X-Hub-Signature-256"); got != "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" {
		t.Errorf("GitHub: %s", got)
	}
	if headers.Get("X-GitHub-Delivery") != "d-2" || headers.Get("X-GitHub-Event") != "push" || headers.Get("Content-Type") != "application/json" {
		t.Errorf("GitHub: %v", headers)
	}
	// https://api.slack.com/authentication/verifying-requests-from-slack
	d = &Delivery{Source: Slack, Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "X-Slack-Request-Timestamp": "1"},
		Body: []byte("token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c")}
	path, headers, err = d.Request("8f742231b10e8888abcd99yyyzzz85a5", "", time.Unix(1531420618, 0))
	if err != nil || path != "/webhooks/slack" {
		t.Fatal(path, err)
	}
	if got := headers.Get("X-Slack-Signature"); got != "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503" {
		t.Errorf("Slack: %s", got)
	}
	if headers.Get("X-Slack-Request-Timestamp") != "1531420618" || headers.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("Slack: %v", headers)
	}
}

func TestRequestRefuses(t *testing.T) {
	t.Parallel()
	d := &Delivery{Source: GitHub, Event: "push", Body: []byte("{}")}
	if _, _, err := d.Request("", "d-1", time.Time{}); err == nil {
		t.Error("signed without a secret")
	}
	if _, _, err := d.Request("secret", "", time.Time{}); !errors.Is(err, ErrSaved) {
		t.Errorf("an id that is not there is kept: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"event":"push","id":"d","headers":{"User-Agent":"x"},"body":"{}"}`), []byte("X-GitHub-Event: push\n"))
	f.Add([]byte(`{"delivery":{"source":"slack"},"body":"e30="}`), []byte("POST / HTTP/1.1\nA: b"))
	f.Fuzz(func(t *testing.T, saved, headers []byte) {
		first, _ := Parse(saved)
		second, _ := ParseParts(headers, []byte("{}"))
		for _, d := range []*Delivery{first, second} {
			if d == nil {
				continue
			}
			_, sent, err := d.Request("secret", "d-1", time.Unix(1, 0))
			if err != nil {
				continue
			}
			for _, name := range []string{"Authorization", "Cookie", "X-Github-Token"} {
				if sent.Get(name) != "" {
					t.Fatalf("%s is sent", name)
				}
			}
		}
	})
}
