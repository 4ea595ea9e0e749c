package boltstore_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// payload has the size and the grain of a pull_request webhook: some 24 KB, most
// of it URLs that repeat each other.
func payload(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	user := func() map[string]any {
		name := fmt.Sprintf("user-%x", r.Uint32())
		out := map[string]any{"login": name, "id": r.Uint32(), "node_id": fmt.Sprintf("MDQ6VXNlcj%x", r.Uint64()), "type": "User", "site_admin": false}
		for _, part := range []string{"followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events", "received_events"} {
			out[part+"_url"] = "https://api.github.com/users/" + name + "/" + part
		}
		return out
	}
	repo := func() map[string]any {
		name := fmt.Sprintf("octo-org/service-%x", r.Uint32())
		out := map[string]any{"id": r.Uint32(), "full_name": name, "private": true, "owner": user(), "pushed_at": time.Unix(r.Int64N(1e9), 0).UTC()}
		for _, part := range []string{"archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare", "contents", "contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs", "git_tags", "hooks", "issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones", "notifications", "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams", "trees"} {
			out[part+"_url"] = "https://api.github.com/repos/" + name + "/" + part + "{/id}"
		}
		return out
	}
	words := make([]byte, 0, 6000)
	for len(words) < 6000 {
		words = fmt.Appendf(words, "%c%x ", 'a'+rune(r.IntN(26)), r.Uint32N(5000))
	}
	raw, err := json.Marshal(map[string]any{
		"action": "opened", "number": n, "sender": user(), "repository": repo(),
		"pull_request": map[string]any{
			"id": r.Uint64(), "title": "Change something", "body": string(words), "user": user(),
			"head": map[string]any{"sha": fmt.Sprintf("%040x", r.Uint64()), "user": user(), "repo": repo()},
			"base": map[string]any{"sha": fmt.Sprintf("%040x", r.Uint64()), "user": user(), "repo": repo()},
		},
	})
	if err != nil {
		panic(err)
	}
	return raw
}

// payloads are shared by all benchmarks.
var payloads = sync.OnceValue(func() [][]byte {
	out := make([][]byte, 64)
	for i := range out {
		out[i] = payload(i)
	}
	return out
})

func guid(n uint64) string {
	r := rand.New(rand.NewPCG(7, n))
	return fmt.Sprintf("%08x-%04x-11f0-%04x-%012x", r.Uint32(), r.Uint32N(1<<16), r.Uint32N(1<<16), r.Uint64N(1<<48))
}

func webhook(n uint64) state.Delivery {
	bodies := payloads()
	return state.Delivery{
		Source: "github", ID: guid(n), Event: "pull_request", Body: bodies[n%uint64(len(bodies))],
		Headers: map[string]string{
			"Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/044aadd", "X-Github-Event": "pull_request",
			"X-Github-Hook-Id": "292430182", "X-Github-Hook-Installation-Target-Id": "79929171",
			"X-Github-Hook-Installation-Target-Type": "integration",
		},
		ReceivedAt: time.Unix(1_770_000_000, int64(n)),
	}
}

// BenchmarkAccept compares an acknowledgement with what it would cost to store
// each delivery in a transaction of its own.
func BenchmarkAccept(b *testing.B) {
	payloads()
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("store/callers=%d", callers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{})
			spread(b, callers, func(n uint64) error {
				_, err := s.Accept(b.Context(), webhook(n))
				return err
			})
		})
		b.Run(fmt.Sprintf("naive/callers=%d", callers), func(b *testing.B) {
			db, err := bolt.Open(filepath.Join(b.TempDir(), "naive.db"), 0o600, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			spread(b, callers, func(n uint64) error {
				d := webhook(n)
				return db.Update(func(tx *bolt.Tx) error {
					ids, err := tx.CreateBucketIfNotExists([]byte("ids"))
					if err != nil {
						return err
					}
					bodies, err := tx.CreateBucketIfNotExists([]byte("bodies"))
					if err != nil || ids.Get([]byte(d.ID)) != nil {
						return err
					}
					seq, _ := bodies.NextSequence()
					key := binary.BigEndian.AppendUint64(nil, seq)
					if err := ids.Put([]byte(d.ID), key); err != nil {
						return err
					}
					return bodies.Put(key, d.Body)
				})
			})
		})
	}
}

// spread runs fn b.N times from a number of goroutines.
func spread(b *testing.B, callers int, fn func(n uint64) error) {
	var next atomic.Uint64
	var all sync.WaitGroup
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			for n := next.Add(1); n <= uint64(b.N); n = next.Add(1) {
				if err := fn(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

func BenchmarkAcceptDuplicate(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{})
	d := webhook(1)
	for b.Loop() {
		if _, err := s.Accept(b.Context(), d); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit settles a delivery into a new turn of a session, with what it
// owes, as the dispatcher does.
func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{})
			spread(b, callers, func(n uint64) error {
				id := fmt.Sprintf("ses_%026d", n)
				_, err := s.Commit(b.Context(), state.Change{
					Facts:    []state.Fact{{Key: "opened:" + id, By: "github:" + id}},
					Sessions: []state.Session{{ID: id, Title: "Change something", Status: state.SessionActive}},
					Keys:     []state.KeyLink{{Key: "github:repo:1:pull:" + id, SessionID: id}},
					Turns:    []state.Turn{{ID: "trn_" + id, SessionID: id, Status: state.TurnQueued, Message: "review"}},
					Outbox:   []state.OutboxItem{{ID: id + "/check", SessionID: id, Payload: json.RawMessage(`{"name":"Liaison"}`)}},
					Lifecycle: []state.LifecycleEvent{
						{Event: state.Event{Type: "turn.queued", SessionID: id, Data: json.RawMessage(`{}`)}}},
				})
				return err
			})
		})
	}
}

// fill stores n sessions with a key each.
func fill(b *testing.B, s state.Store, n int) {
	b.Helper()
	for from := 0; from < n; from += 1000 {
		var c state.Change
		for i := from; i < min(from+1000, n); i++ {
			id := fmt.Sprintf("ses_%s", guid(uint64(i)))
			c.Sessions = append(c.Sessions, state.Session{
				ID: id, Channel: "github", Key: key(i), Title: "Change something in the service", Mode: state.ModeChat,
				Status: state.SessionActive, Revision: state.Revision{ID: guid(uint64(i))},
				CreatedAt: time.Unix(1_770_000_000, 0), UpdatedAt: time.Unix(1_770_000_000, 0),
			})
			c.Keys = append(c.Keys, state.KeyLink{Key: key(i), SessionID: id})
		}
		if _, err := s.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

func key(i int) string { return fmt.Sprintf("github:repo:%d:pull:%d", i%977, i) }

func BenchmarkSessionByKey(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{})
			fill(b, s, n)
			r := rand.New(rand.NewPCG(3, 4))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.SessionByKey(b.Context(), key(r.IntN(n))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFreelist compares the two ways to keep the list of free pages, for
// docs/decisions/0001-bbolt-freelist.md: what a small commit costs, and what the
// opening costs after a crash, with few and with many free pages.
func BenchmarkFreelist(b *testing.B) {
	for _, free := range []int{1_000, 100_000} {
		for _, listed := range []bool{true, false} {
			path := filepath.Join(b.TempDir(), "freelist.db")
			options := &bolt.Options{NoFreelistSync: !listed, FreelistType: bolt.FreelistMapType}
			prepareFree(b, path, options, 100_000, free)
			b.Run(fmt.Sprintf("free=%d/listed=%t/commit", free, listed), func(b *testing.B) {
				db := mustOpen(b, path, options)
				value := bytes.Repeat([]byte("x"), 100)
				var n uint64
				for b.Loop() {
					n++
					err := db.Update(func(tx *bolt.Tx) error {
						return tx.Bucket([]byte("b")).Put(binary.BigEndian.AppendUint64(nil, n%100), value)
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			})
			b.Run(fmt.Sprintf("free=%d/listed=%t/open", free, listed), func(b *testing.B) {
				for b.Loop() {
					if err := mustOpen(b, path, options).Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// prepareFree makes a file of a number of used pages and, beside them, free ones.
func prepareFree(b *testing.B, path string, options *bolt.Options, used, free int) {
	b.Helper()
	db := mustOpen(b, path, options)
	db.NoSync = true
	value := bytes.Repeat([]byte("x"), 3000) // one to a page
	each := func(n int, fn func(k *bolt.Bucket, key []byte) error) {
		for from := 0; from < n; from += 5000 {
			err := db.Update(func(tx *bolt.Tx) error {
				bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
				for i := from; i < min(n, from+5000) && err == nil; i++ {
					err = fn(bucket, binary.BigEndian.AppendUint64(nil, uint64(i)))
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	each(used+free, func(k *bolt.Bucket, key []byte) error { return k.Put(key, value) })
	each(free, func(k *bolt.Bucket, key []byte) error { return k.Delete(key) })
	if err := errors.Join(db.Sync(), db.Close()); err != nil {
		b.Fatal(err)
	}
}

func mustOpen(b *testing.B, path string, options *bolt.Options) *bolt.DB {
	b.Helper()
	db, err := bolt.Open(path, 0o600, options)
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// BenchmarkOpen opens a store with many sessions, as it was closed and as kill
// -9 leaves it.
func BenchmarkOpen(b *testing.B) {
	const n = 100_000
	path := filepath.Join(b.TempDir(), "liaison.db")
	s := open(b, path, boltstore.Options{})
	fill(b, s, n)
	killed := filepath.Join(b.TempDir(), "liaison.db")
	copyTo(b, path, killed)
	mustClose(b, s)
	b.Run("closed", func(b *testing.B) {
		for b.Loop() {
			mustClose(b, openAgain(b, path))
		}
	})
	b.Run("killed", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			fresh := filepath.Join(b.TempDir(), "liaison.db")
			copyTo(b, killed, fresh)
			b.StartTimer()
			s := openAgain(b, fresh)
			b.StopTimer()
			mustClose(b, s)
			b.StartTimer()
		}
	})
}

func openAgain(b *testing.B, path string) *boltstore.Store {
	b.Helper()
	s, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkAppendRunEvent has several runs speak at once, as the bridge's
// callbacks bring what they say.
func BenchmarkAppendRunEvent(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{})
	var runs atomic.Int64
	event := state.RunEvent{Type: "assistant", At: time.Unix(0, 0), Payload: []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"a few words of an answer"}]}}`)}
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		run := state.AgentRecord{Kind: state.RecordRun, ID: fmt.Sprint(runs.Add(1)), AgentID: "agent"}
		if err := s.CreateAgentRecord(b.Context(), run); err != nil {
			b.Error(err)
			return
		}
		for pb.Next() {
			if _, err := s.AppendRunEvent(b.Context(), run.ID, event); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
