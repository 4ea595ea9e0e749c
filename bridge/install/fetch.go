package install

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	// attempts is how often a download is begun; each waits longer than the one before.
	attempts = 4
	// firstWait is the wait before the second; it doubles.
	firstWait = time.Second
	// stallWindow and stallBytes: what brings less than this in that time has
	// stalled. It is below 2 KiB/s, less than any line that could bring the whole.
	stallWindow = 30 * time.Second
	stallBytes  = 32 << 10
)

var errRedirects = errors.New("too many redirects")

// fetcher downloads. Only a stall ends a download that goes on, however long it takes.
type fetcher struct {
	client   *http.Client
	progress func(done, total int64)
}

// newFetcher makes a fetcher. A nil transport is one with the system's proxy settings.
func newFetcher(transport http.RoundTripper, allowInsecure bool) *fetcher {
	if transport == nil {
		transport = &http.Transport{
			Proxy:             http.ProxyFromEnvironment,
			ForceAttemptHTTP2: true,
			// An archive is wanted as it is, not unpacked on the way.
			DisableCompression: true,
			DisableKeepAlives:  true,
			TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
		}
	}
	return &fetcher{
		client:   &http.Client{Transport: transport, CheckRedirect: checkRedirect(allowInsecure)},
		progress: func(int64, int64) {},
	}
}

// fetch writes what is at u to the writer that begin returns for each attempt,
// at most limit bytes of it.
func (f *fetcher) fetch(ctx context.Context, u *url.URL, limit int64, begin func() (io.Writer, error)) error {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		to, err := begin()
		if err != nil {
			return err
		}
		err = f.try(ctx, u, limit, to)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		again, ok := errors.AsType[passing](err)
		if !ok {
			return fmt.Errorf("fetch %s: %w", u, err)
		}
		if attempt == attempts {
			return fmt.Errorf("fetch %s: %d attempts failed, the last one with: %w", u, attempts, again.error)
		}
		// Half of the wait is chance, so that many machines do not come back at once.
		timer := time.NewTimer(wait/2 + rand.N(wait/2+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		wait *= 2
	}
}

// passing marks an error that may be gone when the request is made again.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// try makes one attempt. Its errors never show where a redirect led: such
// addresses carry a signature that admits whoever has it.
func (f *fetcher) try(ctx context.Context, u *url.URL, limit int64, to io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var arrived atomic.Int64
	go watch(ctx, cancel, &arrived)

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "liaison")
	request.Header.Set("Accept", "application/octet-stream, */*;q=0.5")
	response, err := f.client.Do(request)
	if err != nil {
		return classify(ctx, err)
	}
	defer response.Body.Close()
	arrived.Add(stallBytes)
	if code := response.StatusCode; code != http.StatusOK {
		err := error(&StatusError{URL: u.String(), Code: code})
		if code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout {
			err = passing{err}
		}
		return err
	}
	total := response.ContentLength
	if total > limit {
		return fmt.Errorf("%w: %d bytes, and at most %d", ErrTooLarge, total, limit)
	}
	out := &recordingWriter{w: to}
	body := &countingReader{r: io.LimitReader(response.Body, limit+1), seen: func(n int, sum int64) {
		arrived.Add(int64(n))
		f.progress(sum, total)
	}}
	n, err := io.Copy(out, body)
	switch {
	case out.err != nil:
		return out.err
	case err != nil:
		return classify(ctx, err)
	case n > limit:
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return nil
}

// watch ends a download that has stalled.
func watch(ctx context.Context, cancel context.CancelCauseFunc, arrived *atomic.Int64) {
	ticker := time.NewTicker(stallWindow)
	defer ticker.Stop()
	var before int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := arrived.Load()
		if now-before < stallBytes {
			cancel(fmt.Errorf("%w: fewer than %d bytes came within %s", ErrStalled, stallBytes, stallWindow))
			return
		}
		before = now
	}
}

// classify says whether an error of the network may pass, and takes the URL out.
func classify(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrStalled) {
		return passing{cause}
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || errors.Is(err, ErrInsecure) || errors.Is(err, errRedirects) {
		return err
	}
	return passing{err}
}

// countingReader tells of each read.
type countingReader struct {
	r    io.Reader
	sum  int64
	seen func(n int, sum int64)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum += int64(n)
	c.seen(n, c.sum)
	return n, err
}
