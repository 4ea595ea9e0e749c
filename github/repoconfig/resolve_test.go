package repoconfig

import "testing"

func mustParse(t testing.TB, source, file string) Layer {
	t.Helper()
	layer, problems := Parse(source, []byte(file))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return layer
}

func TestTheRepositoryGoesBeforeItsOwner(t *testing.T) {
	t.Parallel()
	owner := mustParse(t, "octo/.github", "review: {on: [opened], labels: [a]}\nchecks: {failOn: error}\n")
	repo := mustParse(t, "octo/shop@main", "review: {labels: []}\ncommands: {bare: true}\nbudgets: {repositoryPerDay: 30}\n")
	e := Resolve(owner, repo)
	e.Limit(Budgets{ActorPerDay: 10, PullPerDay: 1000, RepositoryPerDay: 500})
	if len(e.Review.Labels) != 0 || len(e.Review.On) != 1 || e.Checks.FailOn != "error" || !e.Commands.Bare || e.Checks.OnError != "failure" {
		t.Errorf("got %+v", e.Config)
	}
	if e.Budgets != (Budgets{10, 1000, 30}) {
		t.Errorf("budgets %+v", e.Budgets)
	}
	golden(t, "testdata/effective.golden", e.YAML())
}

// What one turn got stays as it is when another layer is read.
func TestListsAreNotShared(t *testing.T) {
	t.Parallel()
	layer := mustParse(t, "x", "review: {labels: [a]}\n")
	Resolve(layer).Review.Labels[0] = "b"
	if got := Resolve(layer).Review.Labels[0]; got != "a" {
		t.Errorf("got %s", got)
	}
	Default().Review.On[0] = "b"
	if got := Default().Review.On[0]; got != OnOpened {
		t.Errorf("got %s", got)
	}
}
