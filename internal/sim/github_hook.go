package sim

// HookConfig is the App's webhook as its owner set it up.
type HookConfig struct {
	URL string
	// ContentType is "json" or "form".
	ContentType string
	// InsecureSSL leaves the receiver's certificate unverified.
	InsecureSSL bool
}

// SetHookConfig changes where the App's webhook goes, and how.
func (g *GitHub) SetHookConfig(c HookConfig) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hook = c
	g.notify()
}

func (g *GitHub) getHookConfig(*call) reply {
	o := object{"url": g.hook.URL, "content_type": g.hook.ContentType, "insecure_ssl": "0"}
	if g.hook.InsecureSSL {
		o["insecure_ssl"] = "1"
	}
	if g.opts.WebhookSecret != "" {
		o["secret"] = "********"
	}
	return ok(o)
}
