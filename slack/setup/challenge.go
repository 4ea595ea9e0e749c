package setup

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxEcho bounds what is read of the answer to a challenge, in bytes.
const maxEcho = 4 << 10

// ErrForeignSecret says that what answers does not accept the signature.
var ErrForeignSecret = errors.New("the service refuses the signature: it runs with another signing secret, or its clock is more than five minutes off")

// Challenge asks the service at its public URL what Slack asks when the request
// URL is set, signed with a secret, and returns nil if it answers as it should.
// https://docs.slack.dev/reference/events/url_verification
func Challenge(ctx context.Context, client *http.Client, public *url.URL, secret, challenge string, now time.Time) error {
	body, err := json.Marshal(map[string]string{"type": "url_verification", "challenge": challenge})
	if err != nil {
		return fmt.Errorf("ask %s: %w", public, err)
	}
	at := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", at, body)
	to := public.JoinPath(WebhookPath).String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(string(body)))
	if err != nil {
		return fmt.Errorf("ask %s: %w", to, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Slack-Request-Timestamp", at)
	req.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := own.Do(req)
	if err != nil {
		return fmt.Errorf("nothing answers: %w", err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		return ErrForeignSecret
	default:
		return fmt.Errorf("%s answers %s", to, resp.Status)
	}
	echo, err := io.ReadAll(io.LimitReader(resp.Body, maxEcho))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", to, err)
	}
	if strings.TrimSpace(string(echo)) != challenge {
		return fmt.Errorf("something else than Liaison answers at %s", to)
	}
	return nil
}
