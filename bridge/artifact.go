package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// Artifact is a file that an agent has made.
type Artifact struct {
	// Path is the bridge's name of the file, for [Agent.Artifact]. The agent chose
	// it: never use it as a path on this machine without a check.
	Path string
	// Size is in bytes, as the bridge says.
	Size int64
	// Updated is zero when the bridge did not say.
	Updated time.Time
}

// Artifacts lists what the agent has made. Bridges have them for cloud agents; a
// local agent leaves its files in its working directory.
func (a *Agent) Artifacts(ctx context.Context) ([]Artifact, error) {
	conn, err := a.attached(ctx)
	if err != nil {
		return nil, err
	}
	res, err := query(ctx, conn, "list artifacts", conn.agents.ListArtifacts, &sdkv1.ListArtifactsRequest{AgentId: a.id})
	if err != nil {
		return nil, err
	}
	return convert(res.GetArtifacts(), func(f *sdkv1.SdkArtifact) Artifact {
		return Artifact{
			Path: f.GetPath(), Size: int64(min(f.GetSizeBytes(), math.MaxInt64)), Updated: readTime(f.GetUpdatedAt()),
		}
	}), nil
}

// Artifact writes one of the agent's files to w as it arrives and returns how
// many bytes were written. There is no limit to its size, other than w's: an
// error of w ends the download and is returned as it is. Nothing limits the time
// of the whole either; only a piece that takes longer than Options.CallTimeout
// to come is an error.
func (a *Agent) Artifact(ctx context.Context, path string, w io.Writer) (int64, error) {
	const op = "download artifact"
	if path == "" {
		return 0, invalid(op, "no path was given")
	}
	conn, err := a.attached(ctx)
	if err != nil {
		return 0, err
	}
	download, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(conn.ctx, func() { cancel(context.Cause(conn.ctx)) })()
	silence := time.AfterFunc(conn.callTimeout, func() { cancel(errSilentDownload) })
	defer silence.Stop()

	explain := func(err error) error {
		if errors.Is(context.Cause(download), errSilentDownload) {
			return refuse(op, connect.CodeDeadlineExceeded, "", "nothing of %.200q came for %s", path, conn.callTimeout)
		}
		return conn.failure(ctx, op, err)
	}
	stream, err := conn.agents.DownloadArtifact(download, connect.NewRequest(&sdkv1.DownloadArtifactRequest{AgentId: a.id, Path: path}))
	if err != nil {
		return 0, explain(err)
	}
	// A stream that was cancelled has nothing more to tell.
	defer func() { cancel(nil); _ = stream.Close() }()
	var written int64
	for stream.Receive() {
		silence.Stop() // while w is slow nothing is expected
		n, err := w.Write(stream.Msg().GetData())
		written += int64(n)
		if err != nil {
			return written, fmt.Errorf("bridge: %s: write: %w", op, err)
		}
		silence.Reset(conn.callTimeout)
	}
	if err := stream.Err(); err != nil {
		return written, explain(err)
	}
	return written, nil
}

var errSilentDownload = errors.New("nothing came")

// readTime reads a time of the bridge's texts; zero for what is none.
func readTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
