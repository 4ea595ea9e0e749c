package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// duration is a time as people write it: "90s", "2h30m", "3d".
type duration struct{ time.Duration }

func (d *duration) read(r *reader, n *yaml.Node, path string) {
	v, err := parseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.wrong(n, path, `must be a time such as "90s", "2h30m" or "3d"`)
		return
	}
	d.Duration = v
}

// parseDuration reads a Go duration that may begin with days.
func parseDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || rest == "" {
		return time.Duration(n) * day, err
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || more >= day {
		return 0, fmt.Errorf("%.50q is not less than a day", rest)
	}
	return time.Duration(n)*day + more, nil
}

// condition is true, false, or a text in CEL.
type condition struct{ Condition }

func (c *condition) read(r *reader, n *yaml.Node, path string) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!bool":
		c.Always = strings.EqualFold(n.Value, "true")
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.TrimSpace(n.Value) != "":
		c.Expression = n.Value
	default:
		r.wrong(n, path, "must be true, false or a condition in CEL")
	}
}

// command is what is run: one text with words between blanks, or a list of words.
// There is no shell.
type command []string

func (c *command) read(r *reader, n *yaml.Node, path string) {
	*c = command{}
	switch {
	case n.Kind == yaml.SequenceNode && len(n.Content) <= maxList:
		for i, item := range n.Content {
			if word, ok := r.text(item, index(path, i)); ok {
				*c = append(*c, word)
			}
		}
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		if i := strings.IndexAny(n.Value, "'\"`$|&;<>*?(){}\\\n"); i >= 0 {
			r.wrong(n, path, "has %q, which would be a shell's; there is no shell: write a list of words, or a script", n.Value[i])
			return
		}
		*c = strings.Fields(n.Value)
	default:
		r.wrong(n, path, "must be a command, as one text or as a list of words")
		return
	}
	if len(*c) == 0 || (*c)[0] == "" {
		r.wrong(n, path, "names no command")
	}
}

// modelSetting is a model by its name, or with its settings.
type modelSetting struct {
	Name   string            `json:"name" jsonschema:"Name of the model"`
	Params map[string]string `json:"params,omitempty" jsonschema:"The model's own settings, by their names; values are text"`
}

func (m *modelSetting) read(r *reader, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode {
		m.Name, _ = r.text(n, path)
		return
	}
	type plain modelSetting
	var v plain
	r.any(n, reflect.ValueOf(&v).Elem(), path)
	*m = modelSetting(v)
}

// jsonValue is any value, as JSON. The keys of objects keep their order.
type jsonValue json.RawMessage

func (v *jsonValue) read(r *reader, n *yaml.Node, path string) {
	var b bytes.Buffer
	before := len(r.all)
	r.writeJSON(&b, n, path)
	if len(r.all) == before {
		*v = b.Bytes()
	}
}

func (r *reader) writeJSON(b *bytes.Buffer, n *yaml.Node, path string) {
	r.lines[path] = r.first + n.Line
	separate := func(i int) {
		if i > 0 {
			b.WriteByte(',')
		}
	}
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		i := 0
		r.pairs(n, path, func(key, v *yaml.Node) {
			separate(i)
			i++
			r.writeScalar(b, key.Value)
			b.WriteByte(':')
			r.writeJSON(b, v, within(path, key.Value))
		})
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			separate(i)
			r.writeJSON(b, item, index(path, i))
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		r.scalar(b, n, path)
	default:
		r.wrong(n, path, "is an alias; write the value out")
	}
}

func (r *reader) scalar(b *bytes.Buffer, n *yaml.Node, path string) {
	switch n.Tag {
	case "!!str", "!!timestamp":
		r.writeScalar(b, n.Value)
	case "!!null":
		b.WriteString("null")
	case "!!bool":
		r.writeScalar(b, strings.EqualFold(n.Value, "true"))
	case "!!int":
		var v int64
		if n.Decode(&v) != nil {
			r.wrong(n, path, "is a number that is too large")
			return
		}
		r.writeScalar(b, v)
	case "!!float":
		var v float64
		if n.Decode(&v) != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			r.wrong(n, path, "is a number that JSON has not")
			return
		}
		r.writeScalar(b, v)
	default:
		r.wrong(n, path, "has the tag %s, which JSON has not", n.Tag)
	}
}

// writeScalar writes a text, a number or a truth value, all of which JSON has.
func (r *reader) writeScalar(b *bytes.Buffer, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		r.fail(r.file, 0, "cannot be written as JSON: %v", err)
		return
	}
	b.Write(text)
}
