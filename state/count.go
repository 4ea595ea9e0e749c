package state

import (
	"context"
	"fmt"
	"time"
)

// Count is one more under a key.
type Count struct {
	// Key names what is counted and the time that it is counted for.
	Key string
	// Limit is the most that may be counted under Key; zero allows nothing.
	Limit int
	// Expires is when the count can be forgotten. The last one holds.
	Expires time.Time
}

// Counts tells how much was counted.
type Counts interface {
	// Counted returns how much was counted under a key; zero for an unknown one.
	Counted(ctx context.Context, key string) (int, error)
}

// BudgetError says that nothing more may be counted under a key.
type BudgetError struct {
	Key   string
	Limit int
}

// Error implements error.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("%d were counted for %s, and more are not allowed", e.Limit, e.Key)
}
