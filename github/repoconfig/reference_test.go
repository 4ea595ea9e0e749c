package repoconfig

import (
	"fmt"
	"strings"
	"testing"
)

// The reference for people is made of the same table as the reader.
func TestReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	defaults := Default()
	var b strings.Builder
	b.WriteString(`# Configuration of a repository

A repository says what Liaison does in it by the file ` + "`.github/liaison.yml`" + ` (or ` + "`.yaml`" + `). Only the file of the base branch
of a pull request counts, never the one that the pull request brings; for issues it is the default branch's. What it does not say is taken from the same
file in the owner's repository ` + "`.github`" + `, if the App is installed there, and then from what is built in. Of a key that both have, the repository's counts, lists as a whole.
` + "`/liaison config`" + ` in a pull request shows what holds, and where each value comes from.

- The file has at most 64 KiB. Unknown keys, aliases and values of another type are errors, and a file with any is not used at all: the last good version of it holds,
  and a check named "Liaison configuration" shows what is wrong. Where no version was ever good, nothing is reviewed, and the check says so.
- A file that cannot be read for the moment is not a missing one: what was read last goes on, also over a restart. Where nothing is known yet, Liaison waits.
- Changes are seen within a minute, those in the owner's repository within five.
- [liaison.schema.json](../github/repoconfig/liaison.schema.json) is for editors, and [example.yml](../github/repoconfig/testdata/example.yml) sets every key.

Labels, logins and teams are compared without regard to upper and lower case. Globs are as in [doublestar](https://github.com/bmatcuk/doublestar#patterns).

| Key | Default | Meaning |
| --- | --- | --- |
`)
	for _, f := range fields() {
		doc := f.doc
		if f.choices != nil && !strings.Contains(doc, f.choices[len(f.choices)-1]) {
			doc += " One of " + strings.ReplaceAll(oneOf(f.choices), " or ", ", ") + "."
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", f.key, scalar(f.at(&defaults)), strings.ReplaceAll(doc, "|", "\\|"))
	}
	golden(t, "../../docs/repository-configuration.md", b.String())
}
