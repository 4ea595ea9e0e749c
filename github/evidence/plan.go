package evidence

import "slices"

// side is one side of one file.
type side struct {
	file  *File
	which int
	path  string
	entry entry
	known bool // whether entry is from the tree
}

// batch takes the next sides: no more than there may be requests, so that what
// comes first gets the last of them, and no blob twice.
func (c *contents) batch(sides []side) []side {
	size := max(1, min(c.budget.Parallel, c.f.left(), len(sides)))
	for i := range size {
		blob := sides[i].entry.blob
		if blob != "" && slices.ContainsFunc(sides[:i], func(s side) bool { return s.entry.blob == blob }) {
			return sides[:i]
		}
	}
	return sides[:size]
}

// plan lists the sides to fetch, in order.
func (c *contents) plan(files []File) []side {
	var sides []side
	for i := range files {
		f := &files[i]
		if f.Status == statusRemoved {
			f.HeadMissing = "the file is removed"
		} else {
			sides = append(sides, c.side(f, headSide, f.Path))
		}
		if f.Status == statusAdded {
			f.BaseMissing = "the file is new"
		} else {
			sides = append(sides, c.side(f, baseSide, f.basePath()))
		}
	}
	slices.SortStableFunc(sides, func(a, b side) int {
		if d := int(a.file.risk - b.file.risk); d != 0 {
			return d
		}
		return a.which - b.which
	})
	return sides
}

func (c *contents) side(f *File, which int, path string) side {
	s := side{file: f, which: which, path: path}
	s.entry, s.known = c.trees[which].entries[path]
	if !s.known {
		s.entry = entry{size: -1}
		// GitHub names the blob of the side that is left.
		if which == headSide {
			s.entry.blob = f.HeadBlob
		} else {
			s.entry.blob = f.BaseBlob
		}
	}
	return s
}
