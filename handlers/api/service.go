package api

import (
	"context"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/handlers/answer"
)

// compactTimeout bounds a compaction, the wait for a backup under way included.
const compactTimeout = 30 * time.Minute

// health says that the process is alive.
func (a *API) health(w http.ResponseWriter, _ *http.Request, _ Principal) error {
	answer.JSON(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
	return nil
}

// showInfo shows what the process is and how its platforms are.
func (a *API) showInfo(w http.ResponseWriter, _ *http.Request, _ Principal) error {
	answer.JSON(w, http.StatusOK, a.info())
	return nil
}

// compact rewrites the database without its free pages.
func (a *API) compact(w http.ResponseWriter, r *http.Request, p Principal) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(compactTimeout + writeTimeout))
	ctx, cancel := context.WithTimeout(r.Context(), compactTimeout)
	defer cancel()
	defer context.AfterFunc(a.stopping, cancel)()
	done, err := a.keeping.Compact(ctx)
	if err != nil {
		return unfinished(ctx, err)
	}
	a.log.Info("database compacted", "by", p.Name, "before", done.Before, "after", done.After)
	answer.JSON(w, http.StatusOK, struct {
		OK          bool  `json:"ok"`
		BeforeBytes int64 `json:"beforeBytes"`
		AfterBytes  int64 `json:"afterBytes"`
		TookMS      int64 `json:"tookMs"`
	}{true, done.Before, done.After, done.Took.Milliseconds()})
	return nil
}

// backup sends an archive of everything. The first byte is the 200: what fails
// before it is answered with its reason, what fails later cuts the connection.
func (a *API) backup(w http.ResponseWriter, r *http.Request, p Principal) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.stopping, cancel)()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // until the first write, which sets its own
	out := &archiveWriter{w: w, slow: newSlowWriter(w), name: "liaison-" + a.now().UTC().Format("20060102-150405") + ".tar.zst"}
	info, err := a.keeping.Backup(ctx, out)
	switch {
	case err != nil && out.begun:
		a.cutOff(r, err)
	case err != nil:
		return unfinished(ctx, err)
	}
	a.log.Info("backup taken", "by", p.Name, "files", info.Files, "bytes", info.Bytes)
	return nil
}

// unfinished tells that the service stops, or that others were in front, from a failure.
func unfinished(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return refusef(http.StatusServiceUnavailable, "unavailable", "it was not done: the service stops, or other work on the store took too long; try again")
	}
	return err
}

// archiveWriter begins the answer with the first byte.
type archiveWriter struct {
	w     http.ResponseWriter
	slow  *slowWriter
	name  string
	begun bool
}

func (a *archiveWriter) Write(p []byte) (int, error) {
	if !a.begun {
		a.begun = true
		answer.Private(a.w.Header())
		a.w.Header().Set("Content-Type", "application/zstd")
		a.w.Header().Set("Content-Disposition", `attachment; filename="`+a.name+`"`)
	}
	return a.slow.Write(p)
}
