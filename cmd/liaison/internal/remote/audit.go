package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/gen/api"
)

// auditEvery is how often the audit log is asked for more while it is followed:
// people read it, and each question costs the service a look at its end.
const auditEvery = 2 * time.Second

// Audit calls each with every line of the audit log from a time on and after a
// number, without its line feed, and with follow goes on until ctx ends. Errors
// are those of [Call], and of each.
func (s *Service) Audit(ctx context.Context, since time.Time, after int64, follow bool, each func(line []byte) error) error {
	p := &api.GetAuditParams{After: &after}
	if !since.IsZero() {
		p.Since = &since
	}
	for {
		if err := s.auditOnce(ctx, p, each); err != nil || !follow {
			return err
		}
		if err := s.wait(ctx, auditEvery); err != nil {
			return context.Cause(ctx)
		}
	}
}

// auditOnce reads to the present end, and has p go on behind it.
func (s *Service) auditOnce(ctx context.Context, p *api.GetAuditParams, each func([]byte) error) error {
	body, err := s.Open(ctx, func(ctx context.Context) (*http.Response, error) { return s.client.GetAudit(ctx, p) })
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errTooLong):
			return fmt.Errorf("read the audit log after entry %d: %w", *p.After, err)
		case err != nil:
			return &CutError{Doing: "read the audit log", Cause: err}
		}
		var entry struct{ Seq int64 }
		if err := json.Unmarshal(line, &entry); err != nil {
			return fmt.Errorf("what came after entry %d of the audit log is no entry: %w", *p.After, err)
		}
		if err := each(line); err != nil {
			return err
		}
		p.After = &entry.Seq
	}
}
