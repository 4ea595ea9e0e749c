package main

// maxPage is the most entries that the API gives at once.
const maxPage = 500

// collect gathers pages until there are as many entries as wanted, and returns
// where the list goes on; nil is its end. A page may be empty and still not be
// the last: a filter leaves out much.
func collect[E, C any](from *C, limit int, fetch func(from *C, limit *int) ([]E, *C, error)) ([]E, *C, error) {
	all := []E{}
	for {
		page, next, err := fetch(from, given(min(limit-len(all), maxPage)))
		if err != nil {
			return nil, nil, err
		}
		all = append(all, page...)
		if next == nil || len(all) >= limit {
			return all, next, nil
		}
		from = next
	}
}
