package local

import (
	"context"
	"errors"
	"time"
)

// The errors of a [storage] that its callers tell apart.
var (
	// errExists is returned when an agent with that id is already kept.
	errExists = errors.New("the record exists")
	// errNotKept is returned for what is not there.
	errNotKept = errors.New("there is no such record")
	// errUnreadable is returned for a record that is there and damaged.
	errUnreadable = errors.New("the record is damaged")
	// errNewer is returned for a record that a newer bridge wrote.
	errNewer = errors.New("the record was written by a newer version of this bridge")
)

// storage keeps what outlives the process: agents, runs, what runs said, and
// what engines remember. It is called concurrently, but for one agent by one
// change at a time. A change that returned nil survives the end of the process.
type storage interface {
	// agents returns every agent that can be read, in no order.
	agents(ctx context.Context) ([]agentRecord, error)
	// agent returns one, [errNotKept] or [errNewer].
	agent(ctx context.Context, id string) (agentRecord, error)
	// createAgent keeps a new agent, or returns [errExists].
	createAgent(ctx context.Context, a agentRecord) error
	// saveAgent replaces what is kept of an agent.
	saveAgent(ctx context.Context, a agentRecord) error
	// deleteAgent removes an agent with its runs, what they said, and its memory.
	deleteAgent(ctx context.Context, id string) error

	// run returns one, [errNotKept], [errUnreadable] or [errNewer].
	run(ctx context.Context, id string) (runRecord, error)
	// runs returns at most limit of an agent's runs, all when it is 0, the newest
	// first, beginning after the one with the id before, when that is not empty.
	// Those that cannot be read are left out. more says that there are others.
	runs(ctx context.Context, agentID, before string, limit int) (recs []runRecord, more bool, err error)
	createRun(ctx context.Context, r runRecord) error
	// saveRun replaces what is kept of a run.
	saveRun(ctx context.Context, r runRecord) error
	// dropRun removes a run that never began.
	dropRun(ctx context.Context, r runRecord) error

	// beginLog begins the record of a run that was created, of at most limit
	// bytes. failed is called, at most once, when a message that was taken could
	// not be kept; the record then takes no more.
	beginLog(r runRecord, limit int64, failed func(error)) (runLog, error)
	// appendEvent adds to the record of a run that no process runs any more.
	appendEvent(ctx context.Context, r runRecord, at time.Time, kind string, message map[string]any) error
	// events gives what a run said, in order, of a run that is not live. It
	// returns [errNotKept] when the run is gone.
	events(ctx context.Context, r runRecord, give func(entry) error) error

	// memory returns what an engine kept for an agent; nil when there is nothing.
	memory(ctx context.Context, agentID string) ([]byte, error)
	saveMemory(ctx context.Context, agentID string, data []byte) error

	// close lets go of the storage.
	close() error
}

// runLog is the record of a run that is live in this process. Streams read it
// from a file, each at its own pace, so a slow reader costs no memory and holds
// nothing up.
type runLog interface {
	// append adds one message. It may wait for a slow storage until ctx is done.
	// After the end it returns [errSealed].
	append(ctx context.Context, at time.Time, kind string, message map[string]any) error
	// seal returns when everything is kept. The record then takes no more.
	seal() error
	// state says how far the record is written, whether it is sealed, and gives a
	// channel that is closed when either changes.
	state() (size int64, sealed bool, changed <-chan struct{})
	// reader reads it from the start. The error is [fs.ErrNotExist] when the run
	// has ended and only the storage has its record.
	reader() (*logReader, error)
}
