package reviewer

import (
	"errors"
	"path"
)

// sweep reads patches: the first ones a step each, the others in one step
// together, so that a pull request of thousands of files does not drown its
// record.
type sweep struct {
	workspace *workspace
	purpose   string
	reads     int
	bytes     int64
	done      func(summary string, bytes int64, err error)
}

// read returns a change's patch, at most limit bytes of it, and whether it was
// cut; no text when it cannot be read.
func (s *sweep) read(c *change, limit int) (text string, cut bool) {
	s.reads++
	if s.reads <= maxTracedPatches {
		data, more, err := s.workspace.tracedRead(c.Patch, limit, "what changed in "+plainName(c.Path), func([]byte) string {
			return "the patch of " + plainName(c.Path)
		})
		if err != nil {
			return "", false
		}
		return string(data), more
	}
	if s.done == nil {
		s.done = s.workspace.trace.start(toolGrep, path.Join(evidenceDir, "files"), s.purpose)
	}
	data, more, err := s.workspace.read(c.Patch, limit)
	if err != nil {
		return "", false
	}
	s.bytes += int64(len(data))
	return string(data), more
}

// end closes the step of the rest, if there was one.
func (s *sweep) end() {
	if s.done == nil {
		return
	}
	var err error
	if s.bytes == 0 {
		err = errors.New("no patch could be read")
	}
	s.done(count(s.reads-maxTracedPatches, "more patch"), s.bytes, err)
}

// plainName is a path as a step's summary shows it.
func plainName(name string) string { return visible(maskCredentials(name), maxQuotedPath) }
