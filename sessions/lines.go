package sessions

import (
	"strings"
	"sync"

	"github.com/liaison-bot/liaison/state"
)

// inHand is a delivery between being mapped and being settled.
type inHand struct {
	del state.StoredDelivery
	in  Intent
	// settled is called once nothing more will happen to it in this process.
	settled func()
}

// lines keep the order of deliveries while some of them are weighed, which
// happens outside the actors and takes its time. A line begins with a delivery
// that is weighed, or that archives many sessions; what comes behind it under
// the same key waits until it was decided or put off. Other keys have lines of
// their own, or none.
type lines struct {
	mu    sync.Mutex
	byKey map[string]*line
}

// line has what waits behind the one that is worked on.
type line struct {
	waits []*inHand
	// prefixes hold up all keys that begin with one of them.
	prefixes []string
}

// enter has a delivery wait in the line of its key, or begin one, which the
// caller then has to work on; it calls aside in both cases, before anybody works
// on it. A delivery that needs neither can be decided at once.
func (ls *lines) enter(w *inHand, aside func()) (name string, waits, begins bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if name, l := ls.find(w.in.Key); l != nil {
		aside()
		l.waits = append(l.waits, w)
		return name, true, false
	}
	if !w.in.Weigh && len(w.in.KeyPrefixes) == 0 {
		return "", false, false
	}
	aside()
	name = w.in.Key
	if name == "" {
		name = "\xff" + ref(w.del) // no key is anything but UTF-8
	}
	ls.byKey[name] = &line{prefixes: w.in.KeyPrefixes}
	return name, false, true
}

// find returns the line that a key stands in. mu is held.
func (ls *lines) find(key string) (string, *line) {
	if key == "" {
		return "", nil
	}
	if l := ls.byKey[key]; l != nil {
		return key, l
	}
	for name, l := range ls.byKey {
		for _, prefix := range l.prefixes {
			if strings.HasPrefix(key, prefix) {
				return name, l
			}
		}
	}
	return "", nil
}

// hold makes a line hold up keys that begin with prefixes.
func (ls *lines) hold(name string, prefixes []string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.byKey[name].prefixes = append(ls.byKey[name].prefixes, prefixes...)
}

// next returns what comes next in a line, or ends the line.
func (ls *lines) next(name string) *inHand {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.byKey[name]
	if len(l.waits) == 0 {
		delete(ls.byKey, name)
		return nil
	}
	next := l.waits[0]
	l.waits = l.waits[1:]
	return next
}
