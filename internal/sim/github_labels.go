package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of labels: https://docs.github.com/rest/issues/labels
const (
	maxLabelName   = 50
	maxIssueLabels = 100
)

// SetLabels gives a pull request other labels, in the place of those that it has.
func (g *GitHub) SetLabels(repo string, number int, labels ...string) {
	g.CreateLabels(repo, labels...)
	g.editPull(repo, number, func(p *pull) { p.labels = slices.Clone(labels) })
}

// CreateLabels has a repository know labels.
func (g *GitHub) CreateLabels(repo string, labels ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	for _, name := range labels {
		if r.label(name) == "" {
			r.labels = append(r.labels, name)
		}
	}
	g.notify()
}

// Labels returns the labels of a pull request or an issue.
func (g *GitHub) Labels(repo string, number int) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.mustTalk(repo, number).labels)
}

// label returns the name of a label as the repository spells it, or "". GitHub
// does not tell upper case from lower.
func (r *repository) label(name string) string {
	for _, have := range r.labels {
		if strings.EqualFold(have, name) {
			return have
		}
	}
	for _, p := range r.pulls { // opened with labels that nobody made before
		if i := slices.IndexFunc(p.labels, func(l string) bool { return strings.EqualFold(l, name) }); i >= 0 {
			return p.labels[i]
		}
	}
	return ""
}

func (g *GitHub) getLabel(c *call) reply {
	name := c.repo.label(c.vars["label"])
	if name == "" {
		return notFound()
	}
	return ok(labelJSON(name))
}

// addLabels sets labels on an issue. Those that the repository does not have are
// made on the way.
func (g *GitHub) addLabels(c *call) reply {
	p := c.talk()
	if p == nil {
		return c.noTalk()
	}
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	list, isList := o["labels"].([]any)
	if !isList {
		return notSupplied("labels")
	}
	next := slices.Clone(p.labels)
	for _, v := range list {
		name, isText := v.(string)
		switch {
		case !isText || strings.TrimSpace(name) == "":
			return invalidRequest(fmt.Sprintf("For 'properties/labels', %v is not a string.", v))
		case utf8.RuneCountInString(name) > maxLabelName:
			return invalidFields(fieldError{Resource: "Label", Code: "invalid", Field: "name", Message: fmt.Sprintf("name is too long (maximum is %d characters)", maxLabelName)})
		}
		if known := c.repo.label(name); known != "" {
			name = known
		} else {
			c.repo.labels = append(c.repo.labels, name)
		}
		if !slices.Contains(next, name) {
			next = append(next, name)
		}
	}
	if len(next) > maxIssueLabels {
		return invalidFields(fieldError{Resource: "Issue", Code: "custom", Field: "labels", Message: fmt.Sprintf("cannot have more than %d labels", maxIssueLabels)})
	}
	p.labels, p.updated = next, g.now()
	return page(c, p.labels, 0, labelJSON)
}

func (g *GitHub) removeLabel(c *call) reply {
	p := c.talk()
	if p == nil {
		return c.noTalk()
	}
	i := slices.IndexFunc(p.labels, func(l string) bool { return strings.EqualFold(l, c.vars["label"]) })
	if i < 0 {
		return failed(http.StatusNotFound, "Label does not exist")
	}
	p.labels, p.updated = slices.Delete(slices.Clone(p.labels), i, i+1), g.now()
	return page(c, p.labels, 0, labelJSON)
}
