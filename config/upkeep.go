package config

import (
	"net/url"
	"time"
)

// Upkeep says how the GitHub channel keeps up with what nobody told it.
type Upkeep struct {
	// SweepEvery is how often GitHub is asked for deliveries that did not arrive,
	// and ReconcileEvery how often open sessions are compared with their pull
	// requests. Zero turns either off.
	SweepEvery     time.Duration
	ReconcileEvery time.Duration
	// WritePause is the time between two writes of one installation.
	WritePause time.Duration
	// WebhookProxy is where deliveries are relayed from; nil when they are not.
	WebhookProxy *url.URL
}

// Bounds of the above. A sweep or a comparison asks GitHub at least once.
const (
	minUpkeepEvery = 10 * time.Second
	maxWritePause  = 10 * time.Second
)

// buildUpkeep reads how the GitHub channel keeps up.
func buildUpkeep(v *values, p *problems) (u Upkeep) {
	for env, into := range map[string]*time.Duration{EnvGitHubSweep: &u.SweepEvery, EnvGitHubReconcile: &u.ReconcileEvery} {
		d, err := time.ParseDuration(v.textOf(env))
		if *into = d; err != nil || d != 0 && d < minUpkeepEvery {
			p.add(env, "%q is neither a duration of at least %s nor 0, which turns it off", v.textOf(env), minUpkeepEvery)
		}
	}
	var err error
	if u.WritePause, err = time.ParseDuration(v.textOf(EnvGitHubWritePause)); err != nil || u.WritePause < 0 || u.WritePause > maxWritePause {
		p.add(EnvGitHubWritePause, "%q is not a duration from 0 to %s", v.textOf(EnvGitHubWritePause), maxWritePause)
	}
	u.WebhookProxy = buildWebhookProxy(v, p)
	return u
}

// buildWebhookProxy reads where deliveries are relayed from. The URL itself is
// never in a message: who knows it can read what is relayed.
func buildWebhookProxy(v *values, p *problems) *url.URL {
	text := v.textOf(EnvWebhookProxy)
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "http" && u.Scheme != "https":
		p.add(EnvWebhookProxy, "is not an http or https URL without credentials, such as https://smee.io/CHANNEL")
		return nil
	case u.Scheme == "http" && !loopback(u.Hostname()):
		p.add(EnvWebhookProxy, "would carry deliveries unencrypted; use https")
	}
	// With a public URL each delivery would come twice, and once through a third party.
	if public := v.textOf(EnvPublicURL); public != "" {
		p.add(EnvWebhookProxy, "is for development, where GitHub cannot reach the service; unset it, or %s", EnvPublicURL)
	}
	return u
}
