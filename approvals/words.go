package approvals

import (
	"fmt"
	"strings"
	"time"
)

// OperatorPrincipal is who decides with the operator's own token.
const OperatorPrincipal = "api:operator"

// Words renders what each surface writes in its own way within the texts that all
// share. A nil function gives plain text.
type Words struct {
	// Person names somebody, who is not the operator.
	Person func(Identity) string
	// Group names a group that a policy names.
	Group func(Group) string
	// Time writes a moment, so that it reads well after "at".
	Time func(time.Time) string
	// Text makes a stranger's words harmless. They come on one line, redacted.
	Text func(string) string
}

func (w Words) person(i Identity) string {
	switch {
	case i.Principal == OperatorPrincipal:
		return "the operator"
	case w.Person != nil:
		return w.Person(i)
	case i.GitHub != "":
		return i.GitHub
	case i.Slack != "":
		return i.Slack
	case i.Principal != "":
		return i.Principal
	}
	return "somebody"
}

func (w Words) people(all []Identity) string {
	names := make([]string, 0, len(all))
	for _, i := range all {
		names = append(names, w.person(i))
	}
	return series(names)
}

func (w Words) group(g Group) string {
	switch {
	case w.Group != nil:
		return w.Group(g)
	case g.Kind == CodeOwner:
		return "the code owners of what is changed"
	case g.Kind == GitHubTeam:
		return "the team " + g.Name
	}
	return "the group " + g.Name
}

func (w Words) time(t time.Time) string {
	if w.Time != nil {
		return w.Time(t)
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// maxSaid bounds a stranger's words within a sentence, in bytes.
const maxSaid = 300

// text is a stranger's words as part of a sentence of ours.
func (w Words) text(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if cut, whole := cutText(s, maxSaid); !whole {
		s = cut + "…"
	}
	if w.Text != nil {
		return w.Text(s)
	}
	return s
}

// where says at which place something was done.
func where(place string) string {
	switch place {
	case "":
		return ""
	case "slack":
		return " in Slack"
	case "github":
		return " on GitHub"
	case "http":
		return " by the API"
	}
	return " in " + place
}

// series joins names as a sentence does.
func series(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nobody"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// took says how long something took, as exactly as people care.
func took(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		if m := d % time.Hour / time.Minute; m > 0 {
			return fmt.Sprintf("%d h %d min", d/time.Hour, m)
		}
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// more counts people who are still needed.
func more(n int) string {
	if n == 1 {
		return "1 more person"
	}
	return fmt.Sprintf("%d more people", n)
}
