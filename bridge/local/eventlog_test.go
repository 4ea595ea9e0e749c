package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestEventLogIsSealedOnce(t *testing.T) {
	t.Parallel()
	log, err := createLog(filepath.Join(t.TempDir(), "run.ndjson"), maxLogBytes)
	if err != nil {
		t.Fatal(err)
	}
	_, _, changed := log.state()
	if err := log.append(testContext(t), time.Time{}, "assistant", map[string]any{"text": "a"}); err != nil {
		t.Fatal(err)
	}
	<-changed
	_, sealed, changed := log.state()
	if sealed {
		t.Error("the log is sealed too early")
	}
	for range 2 {
		if err := log.seal(); err != nil {
			t.Fatal(err)
		}
	}
	<-changed
	if err := log.append(testContext(t), time.Time{}, "assistant", nil); !errors.Is(err, errSealed) {
		t.Errorf("a message after the end: %v", err)
	}
}

// A disk that does not take a message leaves the record as it was: the next one
// that it takes follows the last that it took.
func TestEventLogOnAFailingDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.ndjson")
	log, err := createLog(path, maxLogBytes)
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) error {
		return log.append(t.Context(), time.Time{}, "assistant", map[string]any{"text": text})
	}
	good := log.file
	if err := say("a"); err != nil {
		t.Fatal(err)
	}
	if log.file, err = os.Open(path); err != nil { // not for writing
		t.Fatal(err)
	}
	if err := say("lost"); err == nil {
		t.Error("a message that was not written is taken")
	}
	if err := log.file.Close(); err != nil {
		t.Fatal(err)
	}
	log.file = good
	if err := say("b"); err != nil {
		t.Fatal(err)
	}
	if err := log.seal(); err != nil {
		t.Fatal(err)
	}
	var got []int
	reader, err := openLogReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.close()
	if err := reader.upTo(maxLogBytes, func(e entry) error { got = append(got, e.Seq); return nil }); err != nil || !slices.Equal(got, []int{1, 2}) || reader.bad > 0 {
		t.Errorf("the record has the messages %v, %v", got, err)
	}
}

// A record is whatever a crash or a disk made of it: reading gives the whole
// lines before the first bad one, and never panics.
func FuzzReadRecord(f *testing.F) {
	f.Add([]byte("{\"seq\":1,\"type\":\"status\",\"message\":{}}\n{\"seq\":2"))
	f.Add([]byte("\n\n"))
	f.Add([]byte("{\"seq\":1,\"type\":\"x\",\"message\":[1]}\n"))
	path := filepath.Join(f.TempDir(), "run.ndjson")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		reader, err := openLogReader(path)
		if err != nil {
			t.Fatal(err)
		}
		err = reader.upTo(int64(len(data)), func(e entry) error {
			_, err := e.proto()
			return err
		})
		if reader.offset > int64(len(data)) || err == nil && reader.offset < int64(len(data)) && data[len(data)-1] == '\n' {
			t.Errorf("read up to %d of %d, %v", reader.offset, len(data), err)
		}
		if err := reader.close(); err != nil {
			t.Error(err)
		}
		log, err := reopenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(log.append(t.Context(), time.Time{}, "status", map[string]any{}), log.file.Close()); err != nil {
			t.Error(err)
		}
		if after, err := os.ReadFile(path); err != nil || after[len(after)-1] != '\n' {
			t.Errorf("the reopened record does not end with a line: %v", err)
		}
	})
}
