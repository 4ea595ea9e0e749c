package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"regexp"
	"strings"

	"github.com/liaison-bot/liaison/state"
)

// format is the version of the layout that this program writes.
const format = 1

// The names in an archive and in a state folder.
const (
	databaseName = "liaison.db"
	manifestName = "manifest.json"
	journalDir   = "intake"
	packedDir    = "packed"
	sessionsDir  = "sessions"
	recordName   = "events.ndjson"
)

// manifest is the last entry of an archive.
type manifest struct {
	state.BackupInfo
	// SHA256 is over the name, the size and the content of each entry before.
	SHA256 string `json:"sha256"`
}

// maxManifest bounds what is read of a manifest.
const maxManifest = 64 << 10

// seal sums up the entries of an archive.
type seal struct {
	hash  hash.Hash
	files int
	bytes int64
}

func newSeal() *seal { return &seal{hash: sha256.New()} }

// entry begins the next entry and returns what its content is written to besides.
func (s *seal) entry(name string, size int64) io.Writer {
	s.files++
	s.bytes += size
	_, _ = fmt.Fprintf(s.hash, "%s\x00%d\x00", name, size) // a hash takes everything
	return s.hash
}

func (s *seal) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// filePattern is what the files of the journal and the segments may be called,
// with maxFileName bytes at most.
var filePattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*(\.[0-9A-Za-z]+)?$`)

const maxFileName = 81

func plainFile(name string) bool { return len(name) <= maxFileName && filePattern.MatchString(name) }

// known reports whether an entry may be in an archive under this name. Such a
// name never leads out of the folder, on any system.
func known(name string) bool {
	if name == databaseName {
		return true
	}
	dir, rest, _ := strings.Cut(name, "/")
	switch dir {
	case journalDir, packedDir:
		return plainFile(rest)
	case sessionsDir:
		id, file, _ := strings.Cut(rest, "/")
		return state.ValidSessionID(id) && file == recordName
	}
	return false
}
