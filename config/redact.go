package config

import "github.com/liaison-bot/liaison/redact"

// buildRedact reads the forms of further secrets.
func buildRedact(c *Config, v *values, p *problems) {
	patterns, _ := v.list(EnvRedactPatterns)
	if err := redact.New().AddPatterns(patterns...); err != nil {
		p.add(EnvRedactPatterns, "%v", err)
		return
	}
	c.RedactPatterns = patterns
}
