package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Question is something that a person asked. Text is as it was when it was asked.
type Question struct {
	// ID is the comment's, and Thread the first comment's of its review thread; 0
	// where there is none.
	ID     int64     `json:"id"`
	Thread int64     `json:"thread"`
	Verb   string    `json:"verb"`
	Text   string    `json:"text"`
	Author Actor     `json:"author"`
	At     time.Time `json:"at,omitzero"`
	URL    string    `json:"url"`
	// Path and Line are what a thread is about.
	Path string `json:"path"`
	Line int    `json:"line"`
	Hunk string `json:"hunk"`
}

// questionFile is the name of the file with what was asked.
const questionFile = "question.json"

// questions is question.json.
type questions struct {
	Questions []Question `json:"questions"`
}

// visible returns the questions with everything shown that is hidden in them.
func visible(asked []Question) questions {
	out := questions{Questions: slices.Clone(asked)}
	for i := range out.Questions {
		q := &out.Questions[i]
		q.Text, _ = Reveal(cut(q.Text, maxQuestion))
		q.Hunk, _ = Reveal(cut(q.Hunk, maxText))
	}
	return out
}

// maxQuestion is how much of one question is kept, in bytes: a whole comment of
// 65,536 characters, where they take one byte.
const maxQuestion = 64 << 10

// moment is the time at which the last of the questions was asked. What was
// written or edited from then on can be an answer to them, made to be read by
// whoever answers, that nobody saw who asked.
func moment(asked []Question) time.Time {
	var last time.Time
	for _, q := range asked {
		if q.At.After(last) {
			last = q.At
		}
	}
	return last
}

// leaveLater takes out what was written or edited at or after a time, and the
// questions themselves: their text at the time when they were asked counts, which
// question.json has. It returns how many texts it took out for their time.
func (c *conversation) leaveLater(asked []Question) int {
	until := moment(asked)
	n := 0
	for s := range c.sections {
		c.sections[s].texts = slices.DeleteFunc(c.sections[s].texts, func(r remark) bool {
			if r.id != 0 && slices.ContainsFunc(asked, func(q Question) bool { return q.ID == r.id }) {
				return true
			}
			late := s != 0 && !until.IsZero() && !latest(r.at, r.editedAt).Before(until)
			if late {
				n++
			}
			return late
		})
	}
	return n
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// threads is a conversation of the review threads in which was asked.
func (c *conversation) threads(asked []Question) *conversation {
	out := &conversation{}
	for _, q := range asked {
		title := fmt.Sprintf("Thread %d on %s line %d", q.Thread, quote(q.Path), q.Line)
		if q.Thread == 0 || slices.ContainsFunc(out.sections, func(s section) bool { return s.title == title }) {
			continue
		}
		s := section{title: title}
		if q.Hunk != "" {
			s.texts = append(s.texts, remark{about: "the diff at this place", text: q.Hunk})
		}
		for _, section := range c.sections {
			for _, r := range section.texts {
				if r.id != 0 && cmp.Or(r.thread, r.id) == q.Thread && r.line {
					s.texts = append(s.texts, r)
				}
			}
		}
		out.sections = append(out.sections, s)
	}
	return out
}
