package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

const (
	// maxMessage bounds a message and the files with it, in bytes: the API takes no
	// larger body.
	maxMessage = 1 << 20
	// stopTimeout bounds the stop that follows a Ctrl-C.
	stopTimeout = 30 * time.Second
)

// errLimit is about a --limit that lists nothing.
var errLimit = errors.New("--limit: must be 1 or more")

// sending is one "liaison send".
type sending struct {
	conn            *connection
	session, title  string
	task, dryRun    bool
	coalesce        bool
	files           []string
	noFollow        bool
	stopOnInterrupt bool
}

func newSend(con *console) *cobra.Command {
	r := &sending{}
	c := &cobra.Command{
		Use:   "send [flags] MESSAGE|-",
		Short: "Ask the agent something, and show its reply",
		Long: `Start a session with a message, or continue one, and show the reply as it is
written. "-" reads the message from standard input.

The reply goes to standard output and nothing else does. With --json the first
line is the API's answer, with the session and the token that continues it, and
the others are the turn's events.

Ctrl-C ends the following; the turn goes on, unless --stop-on-interrupt is set.
A session that is busy is interrupted first, unless --coalesce is set.`,
		Example: `  liaison send "Which licence is this?" --file LICENSE
  liaison send --session ses_01J… "And of its dependencies?"
  git diff | liaison send --title "Last look" -`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return r.run(c.Context(), args[0]) },
	}
	r.conn = newConnection(con, c)
	f := c.Flags()
	f.StringVar(&r.session, "session", "", "continue this session")
	f.StringVar(&r.title, "title", "", "name of the new session, for listings")
	f.BoolVar(&r.task, "task", false, "let the new session end after this turn: it takes no follow-up")
	f.BoolVar(&r.dryRun, "dry-run", false, "let tools of the new session that write only say so, and not run")
	f.BoolVar(&r.coalesce, "coalesce", false, "leave a turn that runs alone, and be answered after it")
	f.StringArrayVar(&r.files, "file", nil, "`PATH[=SOURCE]`: a text file for the agent's workspace, PATH there, from SOURCE here; may be repeated")
	f.BoolVar(&r.noFollow, "no-follow", false, "end once the message is accepted, and print the session's id")
	f.BoolVar(&r.stopOnInterrupt, "stop-on-interrupt", false, "stop the session's turn on Ctrl-C")
	_ = c.RegisterFlagCompletionFunc("session", r.conn.completeSession)
	return c
}

func (r *sending) run(ctx context.Context, message string) error {
	if r.session != "" && (r.title != "" || r.task || r.dryRun) {
		return unusable(errors.New("--title, --task and --dry-run describe a new session: they cannot be changed with --session"))
	}
	if r.session == "" && r.coalesce {
		return unusable(errors.New("--coalesce is about a turn that runs already: it needs --session"))
	}
	text, err := r.message(message)
	if err != nil {
		return unusable(err)
	}
	files, err := readWorkspaceFiles(r.files)
	if err != nil {
		return unusable(err)
	}
	s, err := r.conn.open()
	if err != nil {
		return err
	}
	defer s.Close()
	sent, err := r.send(ctx, s, text, files)
	if err != nil {
		return err
	}
	con := r.conn.con
	switch {
	case r.noFollow && r.conn.json:
		return writeJSON(con.out, sent)
	case r.noFollow:
		_, err := fmt.Fprintln(con.out, terminal.Line(sent.SessionId))
		return err
	}
	return r.follow(ctx, s, sent)
}

// message returns what is asked.
func (r *sending) message(arg string) (string, error) {
	text := arg
	if arg == "-" {
		data, err := readAtMost(r.conn.con.in, "standard input", maxMessage)
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("the message is empty")
	}
	if !utf8.ValidString(text) {
		return "", errors.New("the message is not UTF-8 text")
	}
	return text, nil
}

// readWorkspaceFiles reads the files of --file.
func readWorkspaceFiles(args []string) (*api.WorkspaceFiles, error) {
	if len(args) == 0 {
		return nil, nil
	}
	files, left := api.WorkspaceFiles{}, int64(maxMessage)
	for _, arg := range args {
		path, source, named := strings.Cut(arg, "=")
		if !named {
			source = path
		}
		path = filepath.ToSlash(filepath.Clean(path))
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return nil, fmt.Errorf("--file %s: the path in the workspace must be below it; say it before the source, as in notes.md=%s", arg, source)
		}
		if _, twice := files[path]; twice {
			return nil, fmt.Errorf("--file %s: the workspace cannot have two files %s", arg, path)
		}
		data, err := readSmall(source, left)
		if err != nil {
			return nil, fmt.Errorf("--file %s: %w (all files together may have %d bytes)", arg, err, maxMessage)
		}
		if !utf8.Valid(data) {
			return nil, fmt.Errorf("--file %s: it is not UTF-8 text", arg)
		}
		left -= int64(len(data))
		files[path] = string(data)
	}
	return &files, nil
}

// send starts or continues a session.
func (r *sending) send(ctx context.Context, s *remote.Service, text string, files *api.WorkspaceFiles) (*api.Sent, error) {
	if r.session == "" {
		request := api.StartRequest{
			Message: text, Title: given(r.title), DryRun: given(r.dryRun), WorkspaceFiles: files,
		}
		if r.task {
			request.Mode = given(api.ModeTask)
		}
		return remote.Call[api.Sent](ctx, s, func(ctx context.Context) (*http.Response, error) {
			return s.API().StartSession(ctx, request)
		})
	}
	detail, err := getSession(ctx, s, r.session)
	if err != nil {
		return nil, err
	}
	request := api.ContinueRequest{Message: text, ContinuationToken: detail.ContinuationToken, WorkspaceFiles: files}
	if r.coalesce {
		request.Admission = given(api.ContinueRequestAdmissionCoalesce)
	}
	return remote.Call[api.Sent](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().ContinueSession(ctx, r.session, request)
	})
}

// follow shows what becomes of the message.
func (r *sending) follow(ctx context.Context, s *remote.Service, sent *api.Sent) error {
	con := r.conn.con
	notes := con.notes()
	reply := &replyWriter{out: con.screen(), notes: notes, turn: sent.TurnId}
	each := reply.event
	if r.conn.json {
		if err := writeLine(con.out, sent); err != nil {
			return err
		}
		each = reply.eventJSON(con.out)
	} else if notes.Terminal() {
		fmt.Fprintln(notes, notes.Styled(terminal.Dim, "session "+terminal.Line(sent.SessionId)))
	}
	err := s.Follow(ctx, sent.SessionId, 0, each, con.lost)
	reply.endLine()
	if ctx.Err() == nil {
		return err
	}
	if !r.stopOnInterrupt {
		fmt.Fprintf(notes, "liaison: the turn goes on; \"liaison sessions tail %[1]s\" follows it, \"liaison sessions stop %[1]s\" ends it\n", terminal.Line(sent.SessionId))
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	stopped, stopErr := stopSession(ctx, s, sent.SessionId, "interrupted at the command line")
	if stopErr != nil {
		return exitStatus{status: exitInterrupted, cause: fmt.Errorf("stop session %s: %w", sent.SessionId, stopErr)}
	}
	con.showStopped(notes, stopped)
	return err
}
