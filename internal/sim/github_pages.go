package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Page sizes of every list. https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
const (
	defaultPerPage = 30
	maxPerPage     = 100
)

// page answers one page of a list, with a Link header. Only the rows of the
// page are rendered. A limit above 0 is the most rows that the list ever shows,
// however many there are.
func page[T any](c *call, all []T, limit int, render func(T) object) reply {
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	from, to, link := c.window(len(all))
	return linked(ok(rows(all[from:to], render)), link)
}

// pageIn answers one page inside an object with a total count.
func pageIn[T any](c *call, key string, all []T, more object, render func(T) object) reply {
	from, to, link := c.window(len(all))
	o := object{"total_count": len(all), key: rows(all[from:to], render)}
	maps.Copy(o, more)
	return linked(ok(o), link)
}

// rows renders a list; none is an empty list, never null.
func rows[T any](all []T, render func(T) object) []object {
	list := make([]object, 0, len(all))
	for _, v := range all {
		list = append(list, render(v))
	}
	return list
}

func linked(rep reply, link string) reply {
	if link == "" {
		return rep
	}
	return rep.set("Link", link)
}

// window is the part of a list that the request asks for, and its Link header.
func (c *call) window(total int) (from, to int, link string) {
	q := c.r.URL.Query()
	per, page := min(atoi(q.Get("per_page"), defaultPerPage), maxPerPage), atoi(q.Get("page"), 1)
	last := max(1, (total+per-1)/per)
	if page <= last {
		from, to = (page-1)*per, min(total, page*per)
	}
	var links []string
	add := func(n int, rel string) {
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf("<%s?%s>; rel=%q", c.self(), q.Encode(), rel))
	}
	if page > 1 {
		add(min(page-1, last), "prev")
	}
	if page < last {
		add(page+1, "next")
		add(last, "last")
	}
	if page > 1 {
		add(1, "first")
	}
	return from, to, strings.Join(links, ", ")
}

// self is the request's own URL as GitHub writes it in Link headers: by the
// repository's id, so a client that rebuilds paths from names is found out.
func (c *call) self() string {
	path := strings.TrimPrefix(c.r.URL.EscapedPath(), c.g.prefix)
	if c.repo == nil {
		return c.g.api(path)
	}
	parts := strings.SplitN(strings.Trim(path, "/"), "/", 4)
	rest := ""
	switch {
	case parts[0] == "repos" && len(parts) == 4:
		rest = "/" + parts[3]
	case parts[0] == "repositories" && len(parts) > 2:
		rest = "/" + strings.Join(parts[2:], "/")
	}
	return c.g.api("/repositories/" + strconv.FormatInt(c.repo.id, 10) + rest)
}

// atoi reads a positive number; anything else is the fallback, as on GitHub.
func atoi(s string, fallback int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return fallback
	}
	return n
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
