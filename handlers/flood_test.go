package handlers_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/state"
)

// Large bodies take memory before anybody knows who sent them. Only some are
// held at a time; small deliveries, which are nearly all, never wait for them.
func TestFloodOfLargeBodiesIsHeldBack(t *testing.T) {
	t.Parallel()
	for name, length := range map[string]int64{"of known length": 20 << 20, "of unknown length": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// Of either kind there is memory for one at a time.
				const senders, held = 50, 1
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
				if most := held*(10<<20) + senders*(256<<10); taken > most {
					t.Errorf("%d MB are held for strangers", taken>>20)
				}
				if code := s.post(delivery([]byte(`{}`))).Code; code != http.StatusAccepted {
					t.Errorf("a small delivery is answered with %d", code)
				}
				for range senders - held {
					if code := <-answers; code != http.StatusServiceUnavailable {
						t.Errorf("got %d, want 503", code)
					}
				}
				for _, end := range ends {
					_ = end.CloseWithError(io.ErrUnexpectedEOF)
				}
				for range held {
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

// Who announces a body and sends little of it, or nothing, takes little: small
// deliveries are served all the same.
func TestAnnouncedBodiesLeaveRoomForSmallOnes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		length, sent int64
		senders      int
	}{
		"large ones of which the start comes":     {length: 25 << 20, sent: 200 << 10, senders: 300},
		"large ones of which nothing comes":       {length: 25 << 20, sent: 0, senders: 900},
		"ones of unknown length":                  {length: -1, sent: 200 << 10, senders: 300},
		"small ones of which nothing comes":       {length: 250 << 10, sent: 0, senders: 900},
		"small ones of which only a little comes": {length: 250 << 10, sent: 20 << 10, senders: 900},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newService(t)
				stall, end := io.Pipe()
				var senders sync.WaitGroup
				for range tt.senders {
					r := delivery(nil)
					r.Body, r.ContentLength = io.NopCloser(io.MultiReader(io.LimitReader(zeros{}, tt.sent), stall)), tt.length
					senders.Go(func() { s.post(r) })
				}
				synctest.Wait()
				if code := s.post(delivery([]byte(`{}`))).Code; code != http.StatusAccepted {
					t.Errorf("a small delivery is answered with %d", code)
				}
				_ = end.CloseWithError(io.ErrUnexpectedEOF)
				senders.Wait()
			})
		})
	}
}

// However many stall with small bodies, they take no more than their memory:
// what does not fit is told to come again before more of it is read.
func TestFloodOfSmallBodiesIsHeldBack(t *testing.T) {
	t.Parallel()
	for name, length := range map[string]int64{"of known length": 256 << 10, "of unknown length": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const senders, fit = 200, 128 // 32 MiB of 256 KiB each
				counts := &handlers.Intake{}
				s := newService(t, func(o *handlers.Options) { o.Intake = counts })
				ends := make([]*io.PipeWriter, senders)
				answers := make(chan *httptest.ResponseRecorder, senders)
				for i := range senders {
					stall, end := io.Pipe()
					ends[i] = end
					r := delivery(nil)
					r.Body, r.ContentLength = io.NopCloser(io.MultiReader(io.LimitReader(zeros{}, 200<<10), stall)), length
					go func() { answers <- s.post(r) }()
				}
				synctest.Wait()
				if most := int64(32 << 20); counts.Bytes() > most {
					t.Errorf("%d MB are held for strangers", counts.Bytes()>>20)
				}
				refused := len(answers)
				if refused < senders-fit {
					t.Errorf("%d of %d are refused", refused, senders)
				}
				for range refused {
					w := <-answers
					if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
						t.Errorf("got %d, want 503 with a time to come again", w.Code)
					}
				}
				for _, end := range ends {
					_ = end.CloseWithError(io.ErrUnexpectedEOF)
				}
				for range senders - refused {
					<-answers
				}
				if counts.Bytes() != 0 {
					t.Errorf("%d bytes are still held afterwards", counts.Bytes())
				}
				if code := s.post(delivery([]byte(`{}`))).Code; code != http.StatusAccepted {
					t.Errorf("afterwards a delivery is answered with %d", code)
				}
			})
		})
	}
}

// A buffer is used for one delivery after the other, but never while a store
// that failed, and may not be done with it, could still look at it.
func TestBodyOfAFailedDeliveryIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	failing := &keepingInbox{err: state.ErrUnavailable}
	s := newService(t, func(o *handlers.Options) { o.Inbox = failing })
	first := bytes.Repeat([]byte("a"), 5000)
	s.post(delivery(first))
	for range 50 {
		s.post(delivery(bytes.Repeat([]byte("b"), 5000)))
	}
	if !bytes.Equal(failing.kept[0], first) {
		t.Error("another delivery was read into it")
	}
}

// keepingInbox keeps the very slices that it was lent.
type keepingInbox struct {
	err  error
	kept [][]byte
}

func (k *keepingInbox) Accept(_ context.Context, d state.Delivery) (state.Outcome, error) {
	k.kept = append(k.kept, d.Body)
	return 0, k.err
}

// Deliveries of all sizes at once come out as they went in, whatever buffers
// they shared.
func TestDeliveriesAtOnceKeepTheirBodies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 60 {
				length := []int{0, 1, 4095, 4096, 4097, 8192, 8193, 24 << 10, 256<<10 - 1, 256 << 10, 256<<10 + 1}[(worker+i)%11]
				body := bytes.Repeat([]byte{byte('a' + worker)}, length)
				send := func() *httptest.ResponseRecorder {
					r := delivery(body)
					r.Header.Set("X-GitHub-Delivery", fmt.Sprintf("%d-%d-%d", worker, i, length))
					if i%2 == 0 {
						r.ContentLength = -1
					}
					return s.post(r)
				}
				w := send()
				for w.Code == http.StatusServiceUnavailable && length > 256<<10 {
					w = send() // large ones take turns, and on a slow machine one may wait too long
				}
				if w.Code != http.StatusAccepted {
					t.Errorf("%d bytes: got %d %s", length, w.Code, w.Body)
				}
			}
		})
	}
	wg.Wait()
	for _, d := range s.inbox.stored {
		var worker, i, length int
		if _, err := fmt.Sscanf(d.ID, "%d-%d-%d", &worker, &i, &length); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(d.Body, bytes.Repeat([]byte{byte('a' + worker)}, length)) {
			t.Errorf("%s came out otherwise", d.ID)
		}
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
