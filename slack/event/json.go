package event

import (
	"encoding/json"
	"strconv"
	"strings"
)

// object is a JSON object of which the fields are read one by one. Its names are
// exact: "USER" is not "user", as it would be to encoding/json.
type object map[string]json.RawMessage

// readObject returns a JSON object, and an empty one for all else.
func readObject(raw json.RawMessage) object {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// object returns the object under a name.
func (o object) object(name string) object { return readObject(o[name]) }

// has reports whether there is an object under a name.
func (o object) has(name string) bool { return o.object(name) != nil }

// objects returns the objects of the list under a name, at most most of them, and
// leaves out what else is in it.
func (o object) objects(name string, most int) []object {
	var list []json.RawMessage
	if json.Unmarshal(o[name], &list) != nil {
		return nil
	}
	var all []object
	for _, raw := range list {
		if len(all) == most {
			break
		}
		if entry := readObject(raw); entry != nil {
			all = append(all, entry)
		}
	}
	return all
}

// text returns the text under a name. A number is the text of its digits: Slack has
// sent numbers where its documentation says text, and the other way round.
func (o object) text(name string) string {
	raw := o[name]
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		return number.String()
	}
	return ""
}

// texts returns the texts of the list under a name.
func (o object) texts(name string) []string {
	var list []json.RawMessage
	if json.Unmarshal(o[name], &list) != nil {
		return nil
	}
	var all []string
	for _, raw := range list {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			all = append(all, text)
		}
	}
	return all
}

// flag returns the truth under a name, which may be written as a text.
func (o object) flag(name string) bool {
	var flag bool
	if json.Unmarshal(o[name], &flag) == nil {
		return flag
	}
	return strings.EqualFold(o.text(name), "true")
}

// number returns the whole number under a name, which may be written as a text.
func (o object) number(name string) int64 {
	n, err := strconv.ParseInt(o.text(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// id returns the id under a name, or of the object under it.
func (o object) id(name string) string {
	if inner := o.object(name); inner != nil {
		return ID(inner.text("id"))
	}
	return ID(o.text(name))
}

// time returns the ts under a name.
func (o object) time(name string) string { return TS(o.text(name)) }

// word returns the text under a name if it is a plain word.
func (o object) word(name string) string { return Word(o.text(name)) }
