package install

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// SumsFile is the name of a release's sums file.
	SumsFile = "SHA256SUMS.txt"
	// maxSums bounds a sums file, in bytes; a release has half a dozen lines of some hundred.
	maxSums = 1 << 20
)

// parseSums returns the SHA-256 of name, in lower-case hex, from a file as
// sha256sum writes it. A file with any other line is refused as a whole, and so
// is one that names name twice: the error is [ErrSums].
func parseSums(data []byte, name string) (string, error) {
	found := ""
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" {
			continue
		}
		sum, file, err := parseSumsLine(line)
		if err != nil {
			return "", fmt.Errorf("%w: line %d: %w", ErrSums, number, err)
		}
		if file != name {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%w: it names %s twice", ErrSums, name)
		}
		found = sum
	}
	if found == "" {
		return "", fmt.Errorf("%w: it does not name %s", ErrSums, name)
	}
	return found, nil
}

// parseSumsLine reads "<hex> <space or *><name>".
func parseSumsLine(line string) (sum, file string, err error) {
	sum, rest, ok := strings.Cut(line, " ")
	if !ok || len(rest) < 2 || rest[0] != ' ' && rest[0] != '*' {
		return "", "", fmt.Errorf("%.80q is not a sum and a name", line)
	}
	if sum, err = parseSHA256(sum); err != nil {
		return "", "", err
	}
	return sum, strings.TrimPrefix(rest[1:], "./"), nil
}

// parseSHA256 returns a sum in lower-case hex.
func parseSHA256(text string) (string, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("%.80q is not a SHA-256 in hex (64 digits)", text)
	}
	return hex.EncodeToString(raw), nil
}
