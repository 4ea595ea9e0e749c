package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is the whole program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var (
		b             = &bench{}
		only, keep    string
		list, unsplit bool
	)
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&b.binary, "binary", "", "the service's executable (default: build ./cmd/liaison)")
	flags.StringVar(&b.templates, "templates", "", "directory that keeps the state with many sessions for the next run (default: made anew each time)")
	flags.BoolVar(&b.quick, "quick", false, "small numbers: a look, not a measurement")
	flags.BoolVar(&list, "list", false, "list the scenarios and leave")
	flags.BoolVar(&unsplit, "unsplit", false, "let the service and the load share all processors")
	flags.StringVar(&only, "run", "", "scenarios to run, separated by commas (default: all)")
	flags.StringVar(&keep, "work", "", "directory for everything that is written, on the disk to be measured (default: a temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; -h lists them", flags.Arg(0))
	}
	if list {
		for _, s := range scenarios() {
			fmt.Fprintf(stdout, "%-12s %s\n", s.name, s.about)
		}
		return nil
	}
	wanted, err := choose(only)
	if err != nil {
		return err
	}
	if b.work, err = os.MkdirTemp(keep, "liaison-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	if b.binary == "" {
		if b.binary, err = build(ctx, b.work); err != nil {
			return err
		}
	}
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	if !unsplit {
		b.cpus = split(ctx)
	}
	report := report{Machine: machine(b)}
	failure := measure(ctx, b, wanted, &report, table{to: stderr})
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	return errors.Join(failure, out.Encode(report))
}

// measure runs scenarios. One that fails does not keep the others from running.
func measure(ctx context.Context, b *bench, wanted []scenario, to *report, t table) error {
	var failures []error
	for _, s := range wanted {
		t.heading(s)
		rows, err := s.run(ctx, b, t.progress)
		if err != nil {
			err = fmt.Errorf("%s: %w", s.name, err)
			t.progress("failed: %v", err)
			failures = append(failures, err)
		}
		t.print(rows)
		for _, row := range rows {
			row.Scenario = s.name
			to.Rows = append(to.Rows, row)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failures...)
}

// choose finds scenarios by name.
func choose(names string) ([]scenario, error) {
	all := scenarios()
	if names == "" {
		return all, nil
	}
	var found []scenario
next:
	for name := range strings.SplitSeq(names, ",") {
		for _, s := range all {
			if s.name == name {
				found = append(found, s)
				continue next
			}
		}
		return nil, fmt.Errorf("there is no scenario %q; -list names them", name)
	}
	return found, nil
}

// build makes the executable as it is shipped.
func build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "liaison")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/liaison-bot/liaison/cmd/liaison")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the service: %w\n%s", err, out)
	}
	return path, nil
}
