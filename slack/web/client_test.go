package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
)

// Every way in which a call can fail is of the class that says what can come next.
func TestFailuresHaveTheirClass(t *testing.T) {
	t.Parallel()
	ok := func(body string) reply { return reply{body: body} }
	for name, tt := range map[string]struct {
		reply reply
		class error
		says  string
	}{
		"connection lost":      {reply{err: errReset}, ErrAmbiguous, "connection reset"},
		"no connection":        {reply{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, ErrUnsent, "refused"},
		"no such name":         {reply{err: &net.DNSError{Err: "no such host", Name: "slack.test"}}, ErrUnsent, "no such host"},
		"500":                  {reply{status: http.StatusInternalServerError, body: "oops"}, ErrAmbiguous, "500"},
		"a redirect":           {reply{status: http.StatusFound, body: ""}, ErrAmbiguous, "302"},
		"HTML":                 {ok("<html>busy</html>"), ErrAmbiguous, "none of Slack's"},
		"nothing":              {ok(""), ErrAmbiguous, "none of Slack's"},
		"a list":               {ok("[]"), ErrAmbiguous, "none of Slack's"},
		"no verdict":           {ok(`{"ts":"1.1"}`), ErrAmbiguous, "none of Slack's"},
		"not ok, no error":     {ok(`{"ok":false}`), ErrAmbiguous, "names no error"},
		"not ok, empty error":  {ok(`{"ok":false,"error":""}`), ErrAmbiguous, "names no error"},
		"ok without a message": {ok(`{"ok":true}`), ErrAmbiguous, "names no message"},
		"ts a number":          {ok(`{"ok":true,"ts":1.5}`), ErrAmbiguous, "not as documented"},
		"fatal error":          {ok(`{"ok":false,"error":"fatal_error"}`), ErrAmbiguous, "fatal_error"},
		"limited":              {reply{status: http.StatusTooManyRequests, retryAfter: "2"}, ErrLimited, "rate limit"},
		"limited in words":     {ok(`{"ok":false,"error":"ratelimited"}`), ErrLimited, "rate limit"},
		"bad blocks":           {ok(`{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":["[ERROR] too long"]}}`), ErrRefused, "too long"},
		"odd metadata":         {ok(`{"ok":false,"error":"invalid_blocks","response_metadata":[]}`), ErrRefused, "invalid_blocks"},
		"too long":             {ok(`{"ok":false,"error":"msg_too_long"}`), ErrRefused, "msg_too_long"},
		"of a later year":      {ok(`{"ok":false,"error":"from_2030"}`), ErrRefused, "from_2030"},
		"no channel":           {ok(`{"ok":false,"error":"channel_not_found"}`), ErrGone, "channel_not_found"},
		"archived":             {ok(`{"ok":false,"error":"is_archived"}`), ErrGone, "is_archived"},
		"restricted":           {ok(`{"ok":false,"error":"restricted_action_read_only_channel"}`), ErrGone, "read_only"},
		"revoked":              {ok(`{"ok":false,"error":"token_revoked"}`), ErrAuth, "token_revoked"},
		"scope":                {ok(`{"ok":false,"error":"missing_scope","needed":"chat:write"}`), ErrAuth, "scope chat:write"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, f := newFake(t, func(int, asked) reply { return tt.reply })
			_, err := c.Post(t.Context(), place, Message{Text: "hello"})
			var failure *Error
			if !errors.Is(err, tt.class) || !errors.As(err, &failure) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v; want class %v and %q", err, tt.class, tt.says)
			}
			if n := len(f.of(methodPost)); n != 1 {
				t.Errorf("posted %d times", n) // nothing is repeated in here
			}
		})
	}
}

// A workspace without the app is one where a person has to do something.
func TestNotInstalled(t *testing.T) {
	t.Parallel()
	c, f := newFake(t, func(int, asked) reply { return reply{body: posted} })
	_, err := c.Post(t.Context(), Place{Team: "T2", Channel: "C1"}, Message{Text: "hello"})
	if !errors.Is(err, ErrAuth) || !errors.Is(err, workspace.ErrNotInstalled) || len(f.calls) != 0 {
		t.Errorf("got %v after %d calls", err, len(f.calls))
	}
}

// An echo with a block that nobody knows does not make a post that succeeded a failure.
func TestOddEcho(t *testing.T) {
	t.Parallel()
	c, _ := newFake(t, func(int, asked) reply {
		return reply{body: `{"ok":true,"ts":"9.9","message":{"thread_ts":"1.1","blocks":[{"type":"actions","elements":[{"type":"from_2030"}]}],"files":[{"size":"12"}]}}`}
	})
	if ts, err := c.Post(t.Context(), place, Message{Text: "hello"}); err != nil || ts != "9.9" {
		t.Errorf("got %q, %v", ts, err)
	}
}

// Slack's wait is kept, whatever it says, and the method is left alone until then.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0": minWait, "-5": minWait, "abc": unknownWait * 5 / 4, "": unknownWait * 5 / 4,
		"1e9": unknownWait * 5 / 4, "99999999999": unknownWait * 5 / 4, "86400": maxWait,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, f := newFake(t, func(n int, _ asked) reply {
					if n == 0 {
						return reply{status: http.StatusTooManyRequests, retryAfter: header}
					}
					return reply{body: posted}
				})
				after := func() time.Duration {
					_, err := c.Post(t.Context(), place, Message{Text: "hello"})
					var failure *Error
					if !errors.As(err, &failure) || !errors.Is(err, ErrLimited) {
						t.Fatalf("got %v", err)
					}
					return failure.After
				}
				if got := after(); got != want {
					t.Errorf("waits %s, want %s", got, want)
				}
				time.Sleep(want - time.Millisecond)
				if got := after(); got != time.Millisecond || len(f.of(methodPost)) != 1 {
					t.Errorf("asked %d times; waits %s", len(f.of(methodPost)), got)
				}
				other := place
				other.Channel = "C2"
				if _, err := c.Post(t.Context(), other, Message{Text: "hello"}); err != nil {
					t.Errorf("another channel waits too: %v", err)
				}
				time.Sleep(time.Millisecond)
				if _, err := c.Post(t.Context(), place, Message{Text: "hello"}); err != nil {
					t.Errorf("after the wait: %v", err)
				}
			})
		})
	}
}

// A message for a thread whose root was deleted ends up outside of it: it is taken
// back, and the caller is told.
func TestDeletedRoot(t *testing.T) {
	t.Parallel()
	c, f := newFake(t, func(_ int, call asked) reply {
		if call.method == methodPost {
			return reply{body: `{"ok":true,"ts":"9.9","message":{"ts":"9.9"}}`}
		}
		return reply{body: `{"ok":true}`}
	})
	_, err := c.Post(t.Context(), place, Message{Text: "hello"})
	deleted := f.of("chat.delete")
	if !errors.Is(err, ErrDetached) || len(deleted) != 1 || deleted[0].form.Get("ts") != "9.9" {
		t.Errorf("got %v and %v", err, deleted)
	}
	if _, err := c.Post(t.Context(), Place{Team: "T1", Channel: "C1"}, Message{Text: "hello"}); err != nil {
		t.Errorf("outside of threads: %v", err)
	}
}

// A call that hangs ends, and may have happened; one that is cut off while it
// stands in line has not.
func TestHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := newFake(t, func(int, asked) reply { return reply{takes: time.Hour} })
		began := time.Now()
		second := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second)
			go func() { time.Sleep(time.Second); stop() }()
			_, err := c.Post(ctx, place, Message{Text: "second"})
			second <- err
		}()
		_, err := c.Post(t.Context(), place, Message{Text: "first"})
		if !errors.Is(err, ErrAmbiguous) || time.Since(began) != requestTimeout {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		if err := <-second; !errors.Is(err, ErrUnsent) || !errors.Is(err, context.Canceled) {
			t.Errorf("second: %v", err)
		}
	})
}

// Neither a token nor the address of an answer stands in an error.
func TestErrorsHoldNoCredential(t *testing.T) {
	t.Parallel()
	c, _ := newFake(t, func(int, asked) reply { return reply{err: errReset} })
	_, err := c.Post(t.Context(), place, Message{Text: "hello"})
	responded := c.Respond(t.Context(), "https://slack.test/commands/T1/secret-part", Message{Text: "hello"})
	foreign := c.Respond(t.Context(), "https://example.com/secret-part", Message{Text: "hello"})
	_, _, download := c.Download(t.Context(), place, "https://slack.test/files/secret-part", 10)
	for _, err := range []error{err, responded, foreign, download} {
		if all := fmt.Sprintf("%v %+v", err, err); err == nil || strings.Contains(all, "secret-part") || strings.Contains(all, "not-a-real-token") {
			t.Errorf("got %v", err)
		}
	}
}

// The token goes to Slack alone.
func TestForeignHosts(t *testing.T) {
	t.Parallel()
	c, f := newFake(t, func(int, asked) reply { return reply{body: "ok"} })
	for _, address := range []string{
		"https://example.com/x", "http://files.slack.com/x", "https://slack.com.example.com/x", "https://notslack.com/x",
		"https://files.slack.com:8443/x", "https://files.slack.com@example.com/x", "//example.com", "", "file:///etc/passwd", "https://%zz",
	} {
		if _, _, err := c.Download(t.Context(), place, address, 10); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", address, err)
		}
		if err := c.Respond(t.Context(), address, Message{Text: "hello"}); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(f.calls) != 0 {
		t.Errorf("called %v", f.calls)
	}
	if body, _, err := c.Download(t.Context(), place, "https://files.slack.com/x", 2); err != nil || string(body) != "ok" {
		t.Errorf("got %q, %v", body, err)
	}
	if _, _, err := c.Download(t.Context(), place, "https://files.slack.com/x", 1); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v", err)
	}
}

// A file's address may be somebody's own. With our token Slack would do what it says.
func TestNoMethodIsCalledAsAFile(t *testing.T) {
	t.Parallel()
	c, f := newFake(t, func(int, asked) reply { return reply{body: "ok"} })
	for _, address := range []string{
		"https://slack.com/api/auth.revoke", "https://acme.slack.com/api/chat.delete?channel=C1&ts=1.1", "https://files.slack.com//api/auth.revoke",
		"https://slack.com/files/../api/auth.revoke", "https://slack.com/%61pi/auth.revoke", "https://slack.com/API/auth.revoke", "https://slack.test/api/auth.revoke",
	} {
		if _, _, err := c.Download(t.Context(), place, address, 10); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(f.calls) != 0 {
		t.Errorf("called %v", f.calls)
	}
	if _, _, err := c.Download(t.Context(), place, "https://files.slack.com/files-pri/T1-F1/api/x", 10); err != nil {
		t.Error(err)
	}
}
