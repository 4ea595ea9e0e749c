package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// disk measures what the disk does for anyone who waits for it: the bound of
// every service that makes a webhook durable before it answers.
func disk(ctx context.Context, b *bench, _ func(string, ...any)) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		name  string
		size  int
		syncs int // as a copy-on-write database does: what changed, then the page that names it
	}{
		{"append 4 KiB and sync", 4 << 10, 1},
		{"append 28 KiB and sync", 28 << 10, 1},
		{"a database's commit: 28 KiB and sync, 4 KiB and sync", 28 << 10, 2},
	} {
		rate, err := syncRate(ctx, filepath.Join(b.work, "disk"), c.size, c.syncs, pick(b, 3*time.Second, 300*time.Millisecond))
		if err != nil {
			return nil, err
		}
		row := Row{Case: c.name}
		row.add("rate", "/s", rate)
		row.milliseconds("each", time.Duration(float64(time.Second)/rate))
		rows = append(rows, row)
	}
	return rows, nil
}

// syncRate appends and syncs for a while and returns how often a second.
func syncRate(ctx context.Context, path string, size, syncs int, lasts time.Duration) (rate float64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	block := make([]byte, size)
	const head = 4 << 10
	at, n, begin := int64(head), 0, time.Now()
	for time.Since(begin) < lasts {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if _, err := f.WriteAt(block, at); err != nil {
			return 0, fmt.Errorf("write: %w", err)
		}
		if err := syncData(f); err != nil {
			return 0, fmt.Errorf("sync: %w", err)
		}
		if syncs == 2 {
			if _, err := f.WriteAt(block[:head], 0); err != nil {
				return 0, fmt.Errorf("write: %w", err)
			}
			if err := syncData(f); err != nil {
				return 0, fmt.Errorf("sync: %w", err)
			}
		}
		at += int64(size)
		n++
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}
