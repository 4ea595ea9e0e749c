package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Difference is a place in which an app is not as its manifest has it.
type Difference struct {
	// Path names it with dots, such as "settings.socket_mode_enabled".
	Path string
	// Has is what the app has there and Wants what it should have, as JSON or, for
	// one entry of a list, its text. One of them may be empty.
	Has, Wants string
}

// String is a line or two for a person.
func (d Difference) String() string {
	var lines []string
	if d.Has != "" {
		lines = append(lines, fmt.Sprintf("- %s: %s", d.Path, d.Has))
	}
	if d.Wants != "" {
		lines = append(lines, fmt.Sprintf("+ %s: %s", d.Path, d.Wants))
	}
	return strings.Join(lines, "\n")
}

// Onto lays the manifest over the one that an app has, as apps.manifest.export
// gave it. What the operator calls the app stays, and what is none of ours; all
// else becomes as the manifest has it. It returns the result for
// apps.manifest.update, and what that changes.
func (m Manifest) Onto(exported json.RawMessage) (json.RawMessage, []Difference, error) {
	var has map[string]any
	if err := json.Unmarshal(exported, &has); err != nil || has == nil {
		return nil, nil, errors.New("the app's manifest is no object")
	}
	wants := plain(m.tree()).(map[string]any)
	keep(wants, has, "display_information")
	keep(part(wants, "features"), part(has, "features"), "bot_user")
	merged := over(has, wants)
	// Slack takes one of the two ways to be an agent.
	delete(part(merged.(map[string]any), "features"), "assistant_view")
	raw, err := json.Marshal(merged)
	if err != nil {
		return nil, nil, fmt.Errorf("write the app's manifest: %w", err)
	}
	return raw, differences("", has, merged), nil
}

// part is what stands below a key, or nothing.
func part(tree map[string]any, key string) map[string]any {
	below, _ := tree[key].(map[string]any)
	return below
}

// keep takes over what is there already.
func keep(wants, has map[string]any, key string) {
	if old := part(has, key); old != nil && wants != nil {
		wants[key] = over(wants[key], old)
	}
}

// plain brings a tree into the types that JSON reads.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came from YAML's plain types
	}
	var same any
	if err := json.Unmarshal(raw, &same); err != nil {
		panic(err) // it was just written
	}
	return same
}

// over lays one tree over another; lists are replaced.
func over(base, top any) any {
	under, isMap := base.(map[string]any)
	upper, both := top.(map[string]any)
	if !isMap || !both {
		return top
	}
	merged := maps.Clone(under)
	for key, v := range upper {
		merged[key] = over(merged[key], v)
	}
	return merged
}

// differences lists where two trees differ, in the order of their paths.
func differences(path string, has, wants any) []Difference {
	old, isMap := has.(map[string]any)
	fresh, both := wants.(map[string]any)
	if isMap || both {
		keys := map[string]bool{}
		for key := range old {
			keys[key] = true
		}
		for key := range fresh {
			keys[key] = true
		}
		var all []Difference
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			all = append(all, differences(strings.TrimPrefix(path+"."+key, "."), old[key], fresh[key])...)
		}
		return all
	}
	before, after := shown(has), shown(wants)
	if before == after {
		return nil
	}
	had, isList := texts(has)
	want, wantsList := texts(wants)
	if !isList || !wantsList {
		return []Difference{{Path: path, Has: before, Wants: after}}
	}
	var all []Difference
	for _, entry := range had {
		if !slices.Contains(want, entry) {
			all = append(all, Difference{Path: path, Has: entry})
		}
	}
	for _, entry := range want {
		if !slices.Contains(had, entry) {
			all = append(all, Difference{Path: path, Wants: entry})
		}
	}
	return all // none where only the order differs
}

// shown is a value as JSON; false is what Slack takes for what is not there.
func shown(v any) string {
	if v == nil || v == false {
		return ""
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(raw)
}

// texts returns the texts of a list that has nothing else; nothing is an empty one.
func texts(v any) ([]string, bool) {
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	var all []string
	for _, entry := range list {
		text, ok := entry.(string)
		if !ok {
			return nil, false
		}
		all = append(all, text)
	}
	return all, true
}
