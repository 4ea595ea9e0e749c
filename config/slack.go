package config

// Slack holds the settings of the Slack app.
type Slack struct {
	// SigningSecrets are all accepted; more than one while a secret is being rotated.
	SigningSecrets []string
}

// buildSlack returns nil without a problem when the channel is off.
func buildSlack(v *values, p *problems) *Slack {
	secrets, on := v.list(EnvSlackSecret)
	if !on {
		return nil
	}
	if len(secrets) == 0 {
		p.add(EnvSlackSecret, "is set but empty; without a secret anyone could send events. Unset it to leave the Slack channel off")
	}
	return &Slack{SigningSecrets: secrets}
}
