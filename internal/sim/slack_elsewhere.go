package sim

import "net/http"

// serveElsewhere answers the addresses beside the Web API.
func (s *Slack) serveElsewhere(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
