package sim

import "slices"

// SetLabels gives a pull request other labels, in the place of those that it has.
func (g *GitHub) SetLabels(repo string, number int, labels ...string) {
	g.editPull(repo, number, func(p *pull) { p.labels = slices.Clone(labels) })
}
