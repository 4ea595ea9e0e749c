package api

// Streams is how many streams are open.
func (a *API) Streams() int {
	p := a.streams
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}
