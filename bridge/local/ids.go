package local

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// maxIDBytes bounds the ids that callers give.
const maxIDBytes = 128

// The prefixes of ids.
const (
	agentPrefix = "agent-"
	runPrefix   = "run-"
	// requestPrefix begins the id that an error carries.
	requestPrefix = "req-"
	// cloudPrefix marks the ids of the vendor's cloud agents; ours never have it.
	cloudPrefix = "bc-"
)

// idSource makes ids that sort by the time they were made.
type idSource struct {
	mu      sync.Mutex
	now     func() time.Time
	entropy *ulid.MonotonicEntropy
}

func newIDSource(now func() time.Time, random io.Reader) *idSource {
	return &idSource{now: now, entropy: ulid.Monotonic(random, 0)}
}

// next returns prefix and a lower-case ULID.
func (s *idSource) next(prefix string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := ulid.New(ulid.Timestamp(s.now()), s.entropy)
	if err != nil {
		return "", err
	}
	return prefix + strings.ToLower(id.String()), nil
}

// request returns an id for an error, also when there is no randomness.
func (s *idSource) request() string {
	id, err := s.next(requestPrefix)
	if err != nil {
		return requestPrefix + strconv.FormatInt(s.now().UnixNano(), 10)
	}
	return id
}

// checkID refuses ids that are empty, longer than [maxIDBytes], or could be
// anything but a name: they are compared, logged and repeated in errors. The
// id is not part of the error, it may be megabytes.
func checkID(field, id string) error {
	switch {
	case id == "":
		return invalid("%s is empty", field)
	case len(id) > maxIDBytes:
		return invalid("%s has %d bytes; at most %d are accepted", field, len(id), maxIDBytes)
	}
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._:-", rune(c))) {
			return invalid("%s may have letters, digits and ._:- only, and begins with a letter or digit", field)
		}
	}
	return nil
}
