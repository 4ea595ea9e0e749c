package sim

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// File modes of git.
const (
	modeFile      = "100644"
	modeExec      = "100755"
	modeSymlink   = "120000"
	modeSubmodule = "160000"
	modeTree      = "040000"
)

// entry is one path of a commit.
type entry struct {
	mode string
	sha  string // of a blob; of a commit for a submodule
}

// snapshot is every path of a commit.
type snapshot map[string]entry

// treeEntry is one line of a tree object.
type treeEntry struct {
	name string
	entry
}

// commit is a git commit; its SHA is the true one.
type commit struct {
	sha, tree string
	parents   []string
	author    string // login, may be empty
	name      string
	email     string
	message   string
	when      time.Time
	files     snapshot
}

// network is the object store that a repository shares with its forks, which
// is why a fork's commits can be read through the base repository.
type network struct {
	blobs   map[string][]byte
	trees   map[string][]treeEntry
	commits map[string]*commit
	diffs   map[string][]fileDiff // base and head → changed files
}

func newNetwork() *network {
	return &network{
		blobs: map[string][]byte{}, trees: map[string][]treeEntry{},
		commits: map[string]*commit{}, diffs: map[string][]fileDiff{},
	}
}

// hash is git's object hash.
func hash(kind string, content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func (n *network) addBlob(content string) string {
	sha := hash("blob", []byte(content))
	n.blobs[sha] = []byte(content)
	return sha
}

// addTree stores the tree objects of a snapshot and returns the root's SHA.
func (n *network) addTree(files snapshot) string {
	children := map[string]snapshot{}
	var list []treeEntry
	for p, e := range files {
		dir, rest, nested := strings.Cut(p, "/")
		if !nested {
			list = append(list, treeEntry{p, e})
			continue
		}
		if children[dir] == nil {
			children[dir] = snapshot{}
		}
		children[dir][rest] = e
	}
	for dir, sub := range children {
		list = append(list, treeEntry{dir, entry{modeTree, n.addTree(sub)}})
	}
	// git compares a directory as if its name ended in a slash.
	key := func(e treeEntry) string {
		if e.mode == modeTree {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(list, func(a, b treeEntry) int { return strings.Compare(key(a), key(b)) })
	var raw []byte
	for _, e := range list {
		raw = append(raw, strings.TrimLeft(e.mode, "0")+" "+e.name+"\x00"...)
		id, err := hex.DecodeString(e.sha)
		if err != nil {
			panic("sim: not a git object id: " + e.sha)
		}
		raw = append(raw, id...)
	}
	sha := hash("tree", raw)
	n.trees[sha] = list
	return sha
}

// addCommit stores a commit of a whole snapshot.
func (n *network) addCommit(files snapshot, message, author string, when time.Time, parents ...string) *commit {
	c := &commit{
		tree: n.addTree(files), parents: parents, author: author, name: author,
		message: message, when: when, files: files,
	}
	if author == "" {
		c.name = "ghost"
	}
	c.email = c.name + "@users.noreply.example"
	var raw strings.Builder
	fmt.Fprintf(&raw, "tree %s\n", c.tree)
	for _, p := range parents {
		fmt.Fprintf(&raw, "parent %s\n", p)
	}
	fmt.Fprintf(&raw, "author %s <%s> %d +0000\ncommitter %s <%s> %d +0000\n\n%s\n",
		c.name, c.email, when.Unix(), c.name, c.email, when.Unix(), message)
	c.sha = hash("commit", []byte(raw.String()))
	n.commits[c.sha] = c
	return c
}

// ancestors returns a commit and all before it.
func (n *network) ancestors(sha string) map[string]bool {
	seen := map[string]bool{}
	for queue := []string{sha}; len(queue) > 0; {
		next := queue[0]
		queue = queue[1:]
		if c := n.commits[next]; c != nil && !seen[next] {
			seen[next] = true
			queue = append(queue, c.parents...)
		}
	}
	return seen
}

// mergeBase is the newest common ancestor, empty if there is none.
func (n *network) mergeBase(a, b string) string {
	mine := n.ancestors(a)
	for queue := []string{b}; len(queue) > 0; {
		next := queue[0]
		queue = queue[1:]
		if mine[next] {
			return next
		}
		if c := n.commits[next]; c != nil {
			queue = append(queue, c.parents...)
		}
	}
	return ""
}

// between lists the commits that head has and base has not, oldest first.
func (n *network) between(base, head string) []*commit {
	known := n.ancestors(base)
	var list []*commit
	for sha := head; sha != "" && !known[sha]; {
		c := n.commits[sha]
		if c == nil {
			break
		}
		list = append(list, c)
		sha = ""
		if len(c.parents) > 0 {
			sha = c.parents[0]
		}
	}
	slices.Reverse(list)
	return list
}

// Change is what a commit does to one path. The zero value writes an empty file.
type Change struct {
	// Content is the file's text, or a symlink's target, or a submodule's commit.
	Content string
	// Delete removes the path.
	Delete bool
	// From moves a file here. Its content and mode stay if Content is empty.
	From string
	// Mode is git's: "100644" (also when empty), "100755", "120000" for a
	// symlink, "160000" for a submodule.
	Mode string
}

// Write returns a change that gives a file this content.
func Write(content string) Change { return Change{Content: content} }

// Delete returns a change that removes a file.
func Delete() Change { return Change{Delete: true} }

// Rename returns a change that moves a file here; empty content keeps its own.
func Rename(from, content string) Change { return Change{From: from, Content: content} }

// Symlink returns a change that puts a symbolic link to target here.
func Symlink(target string) Change { return Change{Content: target, Mode: modeSymlink} }

// Submodule returns a change that pins another repository's commit, 40 hex digits.
func Submodule(sha string) Change { return Change{Content: sha, Mode: modeSubmodule} }

// change applies changes to a copy of a snapshot.
func (n *network) change(base snapshot, changes map[string]Change) snapshot {
	files := maps.Clone(base)
	if files == nil {
		files = snapshot{}
	}
	for _, p := range sortedKeys(changes) {
		ch := changes[p]
		mode := ch.Mode
		switch {
		case ch.Delete:
			delete(files, p)
			continue
		case ch.From != "":
			old, known := base[ch.From]
			if !known {
				panic("sim: rename of a path that does not exist: " + ch.From)
			}
			if _, rewritten := changes[ch.From]; !rewritten {
				delete(files, ch.From)
			}
			if mode == "" {
				mode = old.mode
			}
			if ch.Content == "" {
				files[p] = entry{mode, old.sha}
				continue
			}
		case mode == "" && base[p].mode == modeExec:
			mode = modeExec
		case mode == "":
			mode = modeFile
		}
		if mode == modeSubmodule {
			files[p] = entry{mode, ch.Content}
			continue
		}
		files[p] = entry{mode, n.addBlob(ch.Content)}
	}
	return files
}
