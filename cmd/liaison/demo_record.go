package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/liaison-bot/liaison/internal/sim"
)

// exchanges writes what goes between the service and the simulated GitHub, one
// JSON object on each line. Nil writes nothing.
type exchanges struct {
	file *os.File

	mu  sync.Mutex
	err error
}

func newExchanges(path string) (*exchanges, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, unusable(fmt.Errorf("--exchanges: %w", err))
	}
	return &exchanges{file: file}, nil
}

// watch returns what sees each exchange, or nil.
func (e *exchanges) watch() func(sim.Exchange) {
	if e == nil {
		return nil
	}
	return func(x sim.Exchange) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.err = errors.Join(e.err, json.NewEncoder(e.file).Encode(x))
	}
}

func (e *exchanges) close() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(e.err, e.file.Close())
}
