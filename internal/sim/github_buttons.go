package sim

import (
	"fmt"
	"slices"
	"strings"
)

// PressButton presses a button of a check run as a person does, and returns the
// delivery that tells of it. GitHub shows the buttons that the run has, to those who
// may write to the repository; the error says that there is none to press.
func (g *GitHub) PressButton(checkID int64, login, identifier string) (Webhook, error) {
	if err := g.pressable(checkID, login, identifier); err != nil {
		return Webhook{}, err
	}
	return g.CheckRunEvent(checkID, "requested_action", login, identifier), nil
}

func (g *GitHub) pressable(checkID int64, login, identifier string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.mustCheck(checkID)
	if !slices.ContainsFunc(k.Actions, func(a CheckAction) bool { return a.Identifier == identifier }) {
		return fmt.Errorf("sim: check run %d has no button %q", checkID, identifier)
	}
	switch k.repo.permissions[strings.ToLower(login)] {
	case "write", "maintain", "admin":
		return nil
	}
	return fmt.Errorf("sim: %s is not shown the buttons of %s", login, k.repo.fullName)
}
