// Package relay takes GitHub's deliveries from a smee channel, for a service
// that GitHub cannot reach: a developer's machine. A channel sends server-sent
// events, each with a delivery's headers and body as JSON. Who runs the channel,
// or knows its address, can send anything; so every delivery has to carry GitHub's
// signature, which is checked over the body as it was signed.
package relay
