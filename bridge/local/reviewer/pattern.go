package reviewer

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: no
// change needs all of them, and compiling them took longer than all else that
// happens at the start of the program.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// newPattern returns a pattern; one with a mistake in it panics at its first use.
func newPattern(text string) *pattern { return &pattern{text: text} }

func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

func (p *pattern) Match(b []byte) bool            { return p.compiled().Match(b) }
func (p *pattern) MatchString(s string) bool      { return p.compiled().MatchString(s) }
func (p *pattern) FindString(s string) string     { return p.compiled().FindString(s) }
func (p *pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

func (p *pattern) FindStringSubmatch(s string) []string {
	return p.compiled().FindStringSubmatch(s)
}

func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

func (p *pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}
