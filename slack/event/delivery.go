package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Delivery is one request of Slack's. One of its parts is set, or none where it is
// something that asks for nothing.
type Delivery struct {
	// Name says in a few words what it is, such as "event app_mention".
	Name        string
	Callback    *Callback
	Interaction *Interaction
	Command     *Command
}

// Installation says for whom a delivery was sent: an app in a workspace, or in a
// whole organisation. What Slack did not say is empty.
type Installation struct {
	// Team is the workspace (T…).
	Team string
	// Enterprise is the organisation (E…), where the app is installed in all of it.
	Enterprise string
	// App is our app's id (A…), and BotUser our bot's user id (U…).
	App     string
	BotUser string
}

// Read reads a verified request by its Content-Type. An error says that it cannot
// be read at all.
func Read(contentType string, body []byte) (Delivery, error) {
	kind, _, _ := strings.Cut(contentType, ";")
	if strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		return readForm(body)
	}
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		return Delivery{}, fmt.Errorf("the body is no JSON object: %w", err)
	}
	if o.text("type") != "event_callback" {
		return Delivery{Name: named("envelope", o.word("type"))}, nil
	}
	c := readCallback(o)
	name := named("event", c.Event.Type)
	if c.Event.Subtype != "" {
		name += " (" + c.Event.Subtype + ")"
	}
	return Delivery{Name: name, Callback: &c}, nil
}

// readForm reads a click, a submission, a shortcut or a command.
func readForm(body []byte) (Delivery, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return Delivery{}, fmt.Errorf("the body is no form: %w", err)
	}
	switch {
	case form.Has("command"):
		c := readCommand(form)
		return Delivery{Name: named("command", Word(c.Name)), Command: &c}, nil
	case form.Has("ssl_check"):
		return Delivery{Name: "probe of the certificate"}, nil
	case !form.Has("payload"):
		return Delivery{Name: "form that is neither an interaction nor a command"}, nil
	}
	var o object
	if err := json.Unmarshal([]byte(form.Get("payload")), &o); err != nil {
		return Delivery{}, fmt.Errorf("the payload of an interaction is no JSON object: %w", err)
	}
	if o == nil {
		return Delivery{}, errors.New("the payload of an interaction is null")
	}
	i := readInteraction(o)
	return Delivery{Name: named("interaction", i.Type), Interaction: &i}, nil
}

func named(what, name string) string {
	if name == "" {
		return what + " of unknown type"
	}
	return what + " " + name
}
