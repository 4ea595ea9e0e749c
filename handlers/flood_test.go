package handlers_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
)

// Large bodies take memory before anybody knows who sent them. Only some are
// held at a time; small deliveries, which are nearly all, never wait for them.
func TestFloodOfLargeBodiesIsHeldBack(t *testing.T) {
	t.Parallel()
	for name, length := range map[string]int64{"of known length": 20 << 20, "of unknown length": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const senders = 50
				s := newService(t)
				sent := make([]countingReader, senders)
				ends := make([]*io.PipeWriter, senders)
				answers := make(chan int, senders)
				for i := range senders {
					stall, end := io.Pipe()
					ends[i] = end
					sent[i].Reader = io.MultiReader(io.LimitReader(zeros{}, 10<<20), stall)
					r := delivery(nil)
					r.Body, r.ContentLength = io.NopCloser(&sent[i]), length
					go func() { answers <- s.post(r).Code }()
				}
				synctest.Wait()
				taken := 0
				for i := range sent {
					taken += sent[i].n
				}
				if most := 8*(10<<20) + senders*(256<<10); taken > most {
					t.Errorf("%d MB are held for strangers", taken>>20)
				}
				if code := s.post(delivery([]byte(`{}`))).Code; code != http.StatusAccepted {
					t.Errorf("a small delivery is answered with %d", code)
				}
				for range senders - 8 {
					if code := <-answers; code != http.StatusServiceUnavailable {
						t.Errorf("got %d, want 503", code)
					}
				}
				for _, end := range ends {
					_ = end.CloseWithError(io.ErrUnexpectedEOF)
				}
				for range 8 {
					<-answers
				}
				large := bytes.Repeat([]byte(" "), 20<<20)
				if code := s.post(delivery(large)).Code; code != http.StatusAccepted {
					t.Errorf("afterwards a large delivery is answered with %d", code)
				}
			})
		})
	}
}

// countingReader counts what was read of it.
type countingReader struct {
	io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
