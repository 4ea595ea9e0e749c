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

// page answers one page of a list, with a Link header. A limit above 0 is the
// most rows that the list ever shows, however many there are.
func (c *call) page(all []any, limit int) reply {
	rows, link := c.slice(all, limit)
	rep := ok(rows)
	if link != "" {
		rep = rep.set("Link", link)
	}
	return rep
}

// pageIn answers one page inside an object with a total count.
func (c *call) pageIn(key string, all []any, more object) reply {
	rows, link := c.slice(all, 0)
	o := object{"total_count": len(all), key: rows}
	maps.Copy(o, more)
	rep := ok(o)
	if link != "" {
		rep = rep.set("Link", link)
	}
	return rep
}

func (c *call) slice(all []any, limit int) (rows []any, link string) {
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	q := c.r.URL.Query()
	per, page := atoi(q.Get("per_page"), defaultPerPage), atoi(q.Get("page"), 1)
	if per > maxPerPage {
		per = maxPerPage
	}
	last := max(1, (len(all)+per-1)/per)
	if from := (page - 1) * per; page <= last {
		rows = all[from:min(len(all), from+per)]
	}
	if rows == nil {
		rows = []any{} // GitHub sends an empty list, never null
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
	return rows, strings.Join(links, ", ")
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
