package bridge

import (
	"iter"
	"math"

	"connectrpc.com/connect"
)

// pages yields what fetch returns page by page; the first page has no cursor. A
// page is fetched when the one before it has been read to its end. The error
// that ends it is the last thing that it yields.
func pages[T any](op string, size int, fetch func(cursor string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		fail := func(err error) { yield(*new(T), err) }
		if err := checkPageSize(op, size); err != nil {
			fail(err)
			return
		}
		seen := map[string]struct{}{}
		for cursor := ""; ; {
			items, next, err := fetch(cursor)
			if err != nil {
				fail(err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			if _, again := seen[next]; again {
				fail(refuse(op, connect.CodeInternal, "", "the bridge gave the same page twice; the list would never end"))
				return
			}
			seen[next] = struct{}{}
			cursor = next
		}
	}
}

func checkPageSize(op string, size int) error {
	if size < 0 || size > math.MaxInt32 {
		return invalid(op, "the page size %d is not between 0 and %d", size, math.MaxInt32)
	}
	return nil
}

// convert makes our types of the contract's.
func convert[From, To any](from []From, one func(From) To) []To {
	if len(from) == 0 {
		return nil
	}
	to := make([]To, len(from))
	for i, f := range from {
		to[i] = one(f)
	}
	return to
}
