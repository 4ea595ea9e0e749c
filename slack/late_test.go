package slack

import "testing"

// The list of channels is about channels: a direct message is in none.
func TestWhoIsToldThatTheyCameTooLate(t *testing.T) {
	t.Parallel()
	m := mapper{settings: Settings{Channels: []string{"C1"}}}
	at := func(channel, kind string) request {
		return request{address: address{Team: "T1", Channel: channel}, ChannelType: kind, User: "U1", UserTeam: "T1"}
	}
	for _, tt := range []struct {
		r    request
		want bool
	}{{at("C1", "channel"), true}, {at("C2", "channel"), false}, {at("D1", "im"), true}} {
		if got := m.listed(tt.r); got != tt.want {
			t.Errorf("in %s: %t", tt.r.Channel, got)
		}
	}
}
