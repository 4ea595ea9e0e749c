package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// expected returns the sum that the archive must have.
func (in *installation) expected(ctx context.Context) (string, error) {
	if in.SHA256 != "" {
		return in.SHA256, nil
	}
	if in.Sums != "" {
		f, err := os.Open(in.Sums)
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxSums+1))
		if err != nil {
			return "", err
		}
		if len(data) > maxSums {
			return "", fmt.Errorf("%w: %w: %s", ErrSums, ErrTooLarge, in.Sums)
		}
		return parseSums(data, in.Platform.Archive())
	}
	var data strings.Builder
	err := in.fetch.fetch(ctx, in.base.JoinPath(SumsFile), maxSums, func() (io.Writer, error) {
		data.Reset()
		return &data, nil
	})
	if status, ok := errors.AsType[*StatusError](err); ok && status.Code == http.StatusNotFound {
		return "", fmt.Errorf("%w; look at the URL and the version, or pin the archive by its SHA-256", err)
	}
	if err != nil {
		return "", err
	}
	return parseSums([]byte(data.String()), in.Platform.Archive())
}

// obtain copies the archive to a new file, and returns it once its sum is right.
func (in *installation) obtain(ctx context.Context, path, sum string) (_ *os.File, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // the first error says more
		}
	}()
	hash := sha256.New()
	begin := func() (io.Writer, error) {
		hash.Reset()
		_, err := f.Seek(0, io.SeekStart)
		return io.MultiWriter(f, hash), errors.Join(err, f.Truncate(0))
	}
	if in.Archive != "" {
		err = in.copyArchive(ctx, begin)
	} else {
		in.fetch.progress = func(done, total int64) {
			in.Progress(Progress{Step: StepDownload, Done: done, Total: total})
		}
		err = in.fetch.fetch(ctx, in.base.JoinPath(in.Platform.Archive()), in.limits.download, begin)
	}
	if status, ok := errors.AsType[*StatusError](err); ok && status.Code == http.StatusNotFound {
		return nil, fmt.Errorf("%w; the release has no archive for %s", err, in.Platform)
	}
	if err != nil {
		return nil, err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return nil, fmt.Errorf("%w: %s has %s, and %s was expected; nothing was unpacked. If a release came out this minute, try again", ErrChecksum, in.source(), got, sum)
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// copyArchive copies the file that was named. Only the copy is looked at, so
// that it cannot change in between.
func (in *installation) copyArchive(ctx context.Context, begin func() (io.Writer, error)) error {
	from, err := os.Open(in.Archive)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := begin()
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(&contextReader{ctx, from}, in.limits.download+1))
	if err == nil && n > in.limits.download {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, in.Archive, in.limits.download)
	}
	return err
}

func (in *installation) source() string {
	if in.Archive != "" {
		return in.Archive
	}
	return in.base.JoinPath(in.Platform.Archive()).String()
}
