package github

import (
	"slices"
	"strings"
	"unicode"
)

// The verbs of commands.
const (
	verbReview  = "review"
	verbStop    = "stop"
	verbAsk     = "ask"
	verbExplain = "explain"
	verbConfig  = "config"
	verbHelp    = "help"
	verbApprove = "approve"
	verbDeny    = "deny"
)

// slashName begins the commands that work under whatever handle.
const slashName = "/liaison"

// maxVerb bounds a word that stands where a verb should, in characters.
const maxVerb = 40

// parseCommand returns what a text asks of us, and false when it is not for us.
// A text speaks to us by "@handle" anywhere, or by "/liaison" at the beginning of
// a line; what is quoted, code, struck out, part of a link or not shown does not
// count. The first command counts and no other. With bare set also a line such
// as "/review" counts where nothing else does; it is not addressed, since other
// bots own such words too.
func parseCommand(body, handle string, bare bool) (command, bool) {
	lines := spokenLines(body)
	for i, l := range lines {
		if c, ok := l.decides(handle, lines[i+1:]); ok {
			return c, true
		}
		if rest, ok := l.afterSlash(slashName); ok {
			return slashCommand(rest, silent(lines[i+1:])), true
		}
		if before, rest, ok := cutMention(l.text, handle); ok {
			alone := strings.TrimSpace(before) == "" && silent(lines[:i]) && silent(lines[i+1:])
			return mentionCommand(rest, alone), true
		}
	}
	if !bare {
		return command{}, false
	}
	for i, l := range lines {
		for _, verb := range []string{verbReview, verbStop, verbAsk, verbExplain} {
			if rest, ok := l.afterSlash("/" + verb); ok && (verb != verbAsk || rest != "" || !silent(lines[i+1:])) {
				return command{Verb: verb, Argument: argument(rest)}, true
			}
		}
	}
	return command{}, false
}

// afterSlash returns what follows a word at the beginning of the line.
func (l spokenLine) afterSlash(word string) (rest string, ok bool) {
	first, rest := cutWord(l.text)
	return rest, l.begins && lowered(first) == word
}

// slashCommand reads what stands after "/liaison". A verb that there is not stays
// as it is: whoever wrote it gets help.
func slashCommand(rest string, last bool) command {
	word, argued := cutWord(rest)
	verb := lowered(strings.TrimRight(word, ".,:;!?"))
	switch verb {
	case verbAsk:
		if argued == "" && last {
			verb, argued = verbHelp, ""
		}
	case "":
		verb = verbHelp
		if word != "" {
			verb = word
		}
	}
	verb, _ = firstRunes(oneLine(verb), maxVerb)
	return command{Verb: verb, Argument: argument(argued), Addressed: true}
}

// mentionCommand reads what stands on a line after our handle: a verb without
// company is a command, and everything else a question.
func mentionCommand(rest string, alone bool) command {
	rest = strings.TrimLeft(rest, ",:;!?.–—- ")
	words := strings.Fields(rest)
	said := make([]string, 0, len(words))
	for _, w := range words {
		if w = lowered(strings.Trim(w, ".,:;!?")); w != "" && w != "please" && w != "again" {
			said = append(said, w)
		}
	}
	c := command{Verb: verbAsk, Argument: argument(rest), Addressed: true}
	switch {
	case len(said) == 0 && alone:
		return command{Verb: verbHelp, Addressed: true}
	case len(said) == 1 && slices.Contains([]string{verbReview, verbStop, verbExplain, verbConfig, verbHelp}, said[0]):
		return command{Verb: said[0], Addressed: true}
	case len(said) == 2 && said[0] == verbReview && isAll(said[1]):
		return command{Verb: verbReview, Argument: said[1], Addressed: true}
	}
	return c
}

// everything reports whether a review of all is wanted, whatever was reviewed before.
func (c command) everything() bool {
	word, _ := cutWord(c.Argument)
	return isAll(lowered(strings.TrimRight(word, ".,:;!?")))
}

func isAll(word string) bool { return word == "full" || word == "all" }

// trigger is the command as one of the things that start work.
func (c command) trigger() string {
	if !slices.Contains(allVerbs(), c.Verb) {
		return "command:" + verbHelp
	}
	return "command:" + c.Verb
}

func allVerbs() []string {
	return []string{verbReview, verbStop, verbAsk, verbExplain, verbConfig, verbHelp, verbApprove, verbDeny}
}

// lowered returns a word in small letters, or "" for one that is not all ASCII:
// some letters of other scripts look like ours, and some become ours.
func lowered(word string) string {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return ""
		}
	}
	return strings.ToLower(word)
}

// cutWord splits off the first word.
func cutWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// argument is what is kept of the words after a verb, on one bounded line; the
// whole text is kept beside it.
func argument(s string) string { return oneLine(strings.TrimSpace(s)) }
