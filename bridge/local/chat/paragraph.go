package chat

import (
	"strings"
	"unicode/utf8"
)

const (
	// fewSentences is the length at which text is passed on at the end of a sentence
	// or a line although its paragraph has not ended: who reads along must not wait
	// for the whole of a long one.
	fewSentences = 240
	// longSentence is the length at which it is passed on in any case.
	longSentence = 4 << 10
)

// maxParagraph is the most that is passed on at once, although an endpoint that
// does not stream sends an answer of megabytes in one piece.
const maxParagraph = 64 << 10

// paragraphs gathers the few words that a stream brings at a time.
type paragraphs struct {
	buffer strings.Builder
	give   func(string)
}

// add passes on the paragraphs that are whole, and of a long one its sentences.
func (p *paragraphs) add(text string) {
	p.buffer.WriteString(text)
	// A paragraph that ends now ends in the new text or at the seam.
	if !strings.Contains(text, "\n") && p.buffer.Len() < fewSentences {
		return
	}
	s := p.buffer.String()
	cut := strings.LastIndex(s, "\n\n")
	switch {
	case cut >= 0:
		cut += 2
	case len(s) < fewSentences:
		return
	default:
		cut = lastSentence(s)
	}
	if cut == 0 && len(s) >= longSentence {
		for cut = len(s) - 1; cut > 0 && !utf8.RuneStart(s[cut]); cut-- {
			continue
		}
	}
	if cut == 0 {
		return
	}
	p.pass(s[:cut])
	p.buffer.Reset()
	p.buffer.WriteString(s[cut:])
}

// lastSentence returns where the last line or sentence of s ends that is whole, or 0.
func lastSentence(s string) int {
	cut := strings.LastIndex(s, "\n") + 1
	for _, end := range []string{". ", "! ", "? ", "。", "！", "？"} {
		if at := strings.LastIndex(s, end); at >= 0 {
			cut = max(cut, at+len(end))
		}
	}
	return cut
}

// end passes on the rest.
func (p *paragraphs) end() {
	if p.buffer.Len() > 0 {
		p.pass(p.buffer.String())
		p.buffer.Reset()
	}
}

// pass gives text in parts that are not too long.
func (p *paragraphs) pass(text string) {
	for len(text) > maxParagraph {
		cut := maxParagraph
		for cut > maxParagraph-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		p.give(text[:cut])
		text = text[cut:]
	}
	p.give(text)
}
