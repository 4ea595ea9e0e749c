package approvals

// State says how far a call has come:
//
//	pending → approving → approved → executing → done | failed | unknown
//	pending, approving → denied | expired | cancelled | superseded
type State string

// The states of a call.
const (
	// Pending waits for the first person, Approving for more of them.
	Pending   State = "pending"
	Approving State = "approving"
	// Approved is decided and about to run; nothing can take it back.
	Approved  State = "approved"
	Executing State = "executing"
	// Done and Failed have run: the tool said so. Unknown may have run or not: the
	// process died meanwhile, and it is not repeated.
	Done    State = "done"
	Failed  State = "failed"
	Unknown State = "unknown"
	// The others never run.
	Denied     State = "denied"
	Expired    State = "expired"
	Cancelled  State = "cancelled"
	Superseded State = "superseded"
)

// Open reports whether people can still decide.
func (s State) Open() bool { return s == Pending || s == Approving }

// Ended reports whether nothing more will happen.
func (s State) Ended() bool { return !s.Open() && s != Approved && s != Executing }
