package local

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

const (
	defaultPage = 100
	maxPage     = 500
	// maxPageBytes bounds the answers on a page of runs, which is one message.
	maxPageBytes = 8 << 20
)

// pageSize is how many items a page has when limit was asked for.
func pageSize(limit uint32) int {
	if limit == 0 {
		return defaultPage
	}
	return int(min(limit, maxPage))
}

// readCursor gives what writeCursor was given: where the last item is that the
// caller has. Cursors are opaque to callers.
func readCursor(cursor string) (string, error) {
	last, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", errBadCursor()
	}
	return string(last), nil
}

func writeCursor(last string) string { return base64.RawURLEncoding.EncodeToString([]byte(last)) }

func errBadCursor() *fault { return invalid("the cursor is not one that this call gave") }

// newestFirst is the order of lists of agents.
func newestFirst(a, b agentRecord) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
}

// agentPage cuts one page out of all, which are the newest first. A cursor is a
// place in that order, so that the agent that was there may be deleted meanwhile.
func agentPage(all []agentRecord, limit uint32, cursor string) (items []agentRecord, next string, err error) {
	size := pageSize(limit)
	if cursor != "" {
		last, err := readAgentCursor(cursor)
		if err != nil {
			return nil, "", err
		}
		at, found := slices.BinarySearchFunc(all, last, newestFirst)
		if found {
			at++
		}
		all = all[at:]
	}
	if len(all) > size {
		all = all[:size]
		next = writeCursor(all[size-1].Created.Format(time.RFC3339Nano) + " " + all[size-1].ID)
	}
	return all, next, nil
}

// readAgentCursor gives the place of the last agent that the caller has.
func readAgentCursor(cursor string) (agentRecord, error) {
	text, err := readCursor(cursor)
	if err != nil {
		return agentRecord{}, err
	}
	created, id, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, created)
	if err != nil {
		return agentRecord{}, errBadCursor()
	}
	return agentRecord{Created: at, ID: id}, nil
}
