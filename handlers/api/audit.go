package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/handlers/answer"
)

// auditPage is how many entries are in memory at once.
const auditPage = 200

// auditLine is an entry of the audit log with what orders it.
type auditLine struct {
	Seq uint64 `json:"seq"`
	approvals.Entry
}

// audit sends what was asked, decided and done by tools, one entry on each line.
func (a *API) audit(w http.ResponseWriter, r *http.Request, _ Principal) error {
	var since time.Time
	if query := r.URL.Query(); query.Has("since") {
		var err error
		if since, err = time.Parse(time.RFC3339, query.Get("since")); err != nil {
			return badRequest("since must be a time such as 2026-01-02T15:04:05Z")
		}
	}
	from, err := number(r, "after", 0, 0, math.MaxInt64)
	if err != nil {
		return err
	}
	after := uint64(from)
	lines, after, err := a.auditLines(r.Context(), since, after)
	if err != nil {
		return err
	}
	answer.Private(w.Header())
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	buffered := bufio.NewWriterSize(newSlowWriter(w), 32<<10)
	for len(lines) > 0 {
		for _, line := range lines {
			_, _ = buffered.Write(append(line, '\n')) // its errors stick until the flush
		}
		if err := buffered.Flush(); err != nil {
			a.cutOff(r, err)
		}
		if a.stopping.Err() != nil {
			a.cutOff(r, context.Canceled)
		}
		if lines, after, err = a.auditLines(r.Context(), since, after); err != nil {
			a.cutOff(r, err)
		}
	}
	return nil
}

// auditLines returns the next entries, and the number of the last.
func (a *API) auditLines(ctx context.Context, since time.Time, after uint64) ([][]byte, uint64, error) {
	entries, err := a.store.AuditEntries(ctx, since, after, auditPage)
	if err != nil {
		return nil, after, err
	}
	lines := make([][]byte, 0, len(entries))
	for _, e := range entries {
		line := auditLine{Seq: e.Seq}
		err := json.Unmarshal(e.Entry, &line.Entry)
		var text []byte
		if err == nil {
			text, err = json.Marshal(line)
		}
		if err != nil {
			return nil, after, fmt.Errorf("read entry %d of the audit log: %w", e.Seq, err)
		}
		lines, after = append(lines, text), e.Seq
	}
	return lines, after, nil
}
