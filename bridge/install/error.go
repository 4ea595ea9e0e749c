package install

import (
	"errors"
	"fmt"
)

// What can be wrong, for errors.Is.
var (
	// ErrOptions is a combination of options that cannot be meant.
	ErrOptions = errors.New("unusable options")
	// ErrUnsupported is a platform that the vendor builds no bridge for.
	ErrUnsupported = errors.New("no bridge is built for this platform")
	// ErrInsecure is a URL, given or redirected to, that would be fetched without TLS.
	ErrInsecure = errors.New("not fetched without TLS")
	// ErrStalled is a download that brought too little for too long.
	ErrStalled = errors.New("the download stalled")
	// ErrTooLarge is a download or an archive above its limit.
	ErrTooLarge = errors.New("larger than accepted")
	// ErrSums is a sums file that does not say what one archive's sum is.
	ErrSums = errors.New("unusable sums file")
	// ErrChecksum is an archive that is not the one that was asked for.
	ErrChecksum = errors.New("the SHA-256 does not match")
	// ErrArchive is an archive that is damaged, or that would write what it may not.
	ErrArchive = errors.New("the archive cannot be unpacked safely")
	// ErrManifest is an archive that holds no bridge for this platform.
	ErrManifest = errors.New("the archive is not the bridge that was asked for")
	// ErrNotInstalled means that nothing was installed yet.
	ErrNotInstalled = errors.New("no bridge is installed")
	// ErrBroken is an installed copy that is not as it was installed.
	ErrBroken = errors.New("the installed bridge cannot be trusted")
)

// StatusError is an answer other than 200.
type StatusError struct {
	// URL is what was asked for, before any redirect.
	URL  string
	Code int
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered with status %d", e.Code)
}
