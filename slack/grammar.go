package slack

import (
	"strings"
	"unicode"
)

// spokenVerb returns what a whole message to us is: "stop", "help", "status" or
// "review <address>", with or without "please", and otherwise a question. A
// sentence that only begins with such a word is a question.
func spokenVerb(text string) (verb, string) {
	var words []string
	for _, w := range strings.Fields(text) {
		if bareWord(w) != "please" {
			words = append(words, w)
		}
	}
	switch {
	case len(words) == 1:
		switch bareWord(words[0]) {
		case "stop", "cancel":
			return verbStop, ""
		case "help":
			return verbHelp, ""
		case "status":
			return verbStatus, ""
		}
	case len(words) == 2 && bareWord(words[0]) == "review":
		if address := linked(words[1]); isAddress(address) {
			return verbReview, address
		}
	}
	return verbAsk, ""
}

// commandVerb returns what stands behind "/liaison": a verb with its argument, else
// a question, or help where there is nothing.
func commandVerb(text string) (verb, string) {
	first, rest := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		first, rest = text[:i], strings.TrimSpace(text[i:])
	}
	switch v := verb(bareWord(first)); v {
	case verbStatus, verbStop, verbHelp:
		if rest == "" {
			return v, ""
		}
	case "cancel":
		if rest == "" {
			return verbStop, ""
		}
	case verbApprovals:
		if rest == "" {
			return v, ""
		}
	case verbApprove, verbDeny:
		if rest == "" {
			return verbApprovals, ""
		}
		if strings.HasPrefix(rest, "apr_") {
			return v, rest
		}
	case verbReview:
		address, _, _ := strings.Cut(rest, " ")
		if address = linked(address); isAddress(address) || rest == "" {
			return verbReview, address
		}
	case verbAsk:
		if rest == "" {
			return verbHelp, ""
		}
		return verbAsk, rest
	}
	if text == "" {
		return verbHelp, ""
	}
	return verbAsk, text
}

// bareWord returns a word in small letters without what people put around it, and ""
// for one that is not all ASCII: some letters of other scripts become ours.
func bareWord(word string) string {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return ""
		}
	}
	return strings.ToLower(strings.Trim(word, ".,:;!?*_~`"))
}

// linked returns the address in a link of Slack's, "<https://…|…>", and other words
// as they are.
func linked(word string) string {
	word = strings.TrimRight(word, ".,;!")
	if inner, ok := strings.CutPrefix(word, "<"); ok {
		word, _, _ = strings.Cut(strings.TrimSuffix(inner, ">"), "|")
	}
	return strings.ReplaceAll(word, "&amp;", "&")
}

// isAddress reports whether a word is the address of a page.
func isAddress(word string) bool {
	return strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://")
}
