package api

import (
	"net/http"
	"sync"
)

// DefaultMaxStreams is how many streams may be open at once. One was measured to
// cost 35 KB of memory, its connection included, so that all stay below 200 MB.
const DefaultMaxStreams = 4096

// shareOfOne is the part of all places that one named caller may take, so that
// one client that forgets to close does not lock out the others.
const shareOfOne = 4

// places bounds what is open at once, in all and by caller.
type places struct {
	most int

	mu  sync.Mutex
	all int
	by  map[string]int
}

func newPlaces(most int) *places { return &places{most: most, by: map[string]int{}} }

// take returns what gives the place back.
func (p *places) take(name string) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.most
	if name != operatorName && name != localName {
		own = max(p.most/shareOfOne, 1)
	}
	switch {
	case p.all >= p.most:
		return nil, refusef(http.StatusServiceUnavailable, "too_many_streams", "%d streams are open, which is all that the service keeps; try again later", p.all)
	case p.by[name] >= own:
		return nil, refusef(http.StatusServiceUnavailable, "too_many_streams", "%s has %d streams open, which is all that one caller may have; close some", name, own)
	}
	p.all++
	p.by[name]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all--
		if p.by[name]--; p.by[name] == 0 {
			delete(p.by, name)
		}
	}, nil
}
