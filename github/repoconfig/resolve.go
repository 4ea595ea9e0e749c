package repoconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SourceDefault is the source of what nobody set.
const SourceDefault = "default"

// Effective is what holds, with the source of each value.
type Effective struct {
	Config
	sources map[string]string
}

// Resolve puts layers over the defaults; of a key that several have, the last
// one counts, lists as a whole.
func Resolve(layers ...Layer) Effective {
	e := Effective{Config: Default(), sources: map[string]string{}}
	for _, f := range fields() {
		for _, l := range layers {
			v, ok := l.values[f.key]
			if !ok {
				continue
			}
			e.sources[f.key] = l.Source
			switch at := f.at(&e.Config).(type) {
			case *bool:
				*at = v.(bool)
			case *int:
				*at = v.(int)
			case *string:
				*at = v.(string)
			case *[]string:
				*at = slices.Clone(v.([]string))
			}
		}
	}
	return e
}

// Source returns where the value of a key came from.
func (e Effective) Source(key string) string {
	if s := e.sources[key]; s != "" {
		return s
	}
	return SourceDefault
}

// Limit sets the budgets to the operator's, where nobody set others or those are less.
func (e *Effective) Limit(most Budgets) {
	limits := map[string]int{
		"budgets.actorPerDay": most.ActorPerDay, "budgets.pullPerDay": most.PullPerDay, "budgets.repositoryPerDay": most.RepositoryPerDay,
	}
	for _, f := range fields() {
		at, _ := f.at(&e.Config).(*int)
		limit, limited := limits[f.key]
		if unset := e.sources[f.key] == ""; limited && (*at > limit || unset && *at < limit) {
			*at, e.sources[f.key] = limit, "the operator's limit"
		}
	}
}

// YAML prints everything that holds as a file would say it, with the source of
// each value behind it.
func (e Effective) YAML() string {
	var lines [][2]string
	var open []string
	widest := 0
	for _, f := range fields() {
		parts := strings.Split(f.key, ".")
		groups := parts[:len(parts)-1]
		for i, g := range groups {
			if i < len(open) && open[i] == g {
				continue
			}
			open = open[:min(i, len(open))]
			lines = append(lines, [2]string{strings.Repeat("  ", i) + g + ":"})
			open = append(open, g)
		}
		open = open[:len(groups)]
		line := strings.Repeat("  ", len(groups)) + parts[len(parts)-1] + ": " + scalar(f.at(&e.Config))
		if len(line) <= maxAligned {
			widest = max(widest, len(line))
		}
		lines = append(lines, [2]string{line, e.Source(f.key)})
	}
	var b strings.Builder
	for _, l := range lines {
		if l[1] == "" {
			fmt.Fprintln(&b, l[0])
			continue
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", widest, l[0], strings.ReplaceAll(l[1], "\n", " "))
	}
	return b.String()
}

// maxAligned is the longest line behind which sources still stand in one column.
const maxAligned = 64

func scalar(at any) string {
	switch v := at.(type) {
	case *bool:
		return strconv.FormatBool(*v)
	case *int:
		return strconv.Itoa(*v)
	case *string:
		return strconv.Quote(*v)
	case *[]string:
		quoted := make([]string, len(*v))
		for i, s := range *v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return ""
}
