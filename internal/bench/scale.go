package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/liaison-bot/liaison/internal/bench/process"
)

// scale measures the store's operations, a start and the memory with few and
// with very many sessions on file.
func scale(ctx context.Context, b *bench, progress func(string, ...any)) ([]Row, error) {
	sizes := []int{1_000, pick(b, 1_000_000, 20_000)}
	var dirs []string
	for _, n := range sizes {
		dir, err := b.template(ctx, n, progress)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	rows, err := storeCosts(ctx, b, dirs, sizes)
	if err != nil {
		return nil, err
	}
	progress("the store's operations are measured")
	var memories []Row
	for i, n := range sizes {
		for _, end := range []struct {
			name string
			end  func(*process.Service)
		}{{"a stop", (*process.Service).Stop}, {"kill -9", (*process.Service).Kill}} {
			took, err := startAgain(ctx, b, dirs[i], end.end)
			if err != nil {
				return rows, err
			}
			rows = append(rows, spread(fmt.Sprintf("start with %d sessions, after %s", n, end.name), took))
		}
		row, err := memoryWith(ctx, b, dirs[i], n)
		if err != nil {
			return rows, err
		}
		memories = append(memories, row)
	}
	return append(rows, memories...), nil
}

// template returns a directory with n sessions at rest, from an earlier run if
// there is one. What follows changes it.
func (b *bench) template(ctx context.Context, n int, progress func(string, ...any)) (string, error) {
	dir, err := b.dir()
	if err != nil {
		return "", err
	}
	if b.templates == "" {
		return dir, fill(ctx, dir, n, progress)
	}
	kept := filepath.Join(b.templates, fmt.Sprint("sessions-", n))
	if _, err := os.Stat(kept); errors.Is(err, os.ErrNotExist) {
		making := kept + ".making"
		if err := errors.Join(os.RemoveAll(making), os.MkdirAll(making, 0o700)); err != nil {
			return "", err
		}
		if err := fill(ctx, making, n, progress); err != nil {
			return "", err
		}
		if err := os.Rename(making, kept); err != nil {
			return "", err
		}
	}
	return dir, os.CopyFS(dir, os.DirFS(kept))
}

func memoryWith(ctx context.Context, b *bench, dir string, n int) (Row, error) {
	s, err := b.ready(ctx, dir)
	if err != nil {
		return Row{}, err
	}
	defer s.Kill()
	row, err := taken(ctx, b, s, fmt.Sprintf("memory with %d sessions", n))
	if errors.Is(err, errors.ErrUnsupported) {
		return Row{Case: row.Case}, nil
	}
	return row, err
}
