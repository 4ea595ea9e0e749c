package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Snapshot is what is true at one moment, told by those who know.
type Snapshot struct {
	// Running is set while the engine works.
	Running bool
	// ActiveSessions have something under way or in line.
	ActiveSessions int
	RunningTurns   int
	QueuedTurns    int
	// MaxRunningTurns bounds RunningTurns.
	MaxRunningTurns int
	// Deciding and Delivering count deliveries and writes under way.
	Deciding   int
	Delivering int
	// Storing counts verified webhooks that are being stored, and BodyMemory the
	// bytes that are lent for bodies.
	Storing    int
	BodyMemory int64
	// OldestPending is the age of the oldest delivery that is not decided, and
	// OutboxLate how long ago the next write to a platform was due. Both are zero
	// when nothing waits.
	OldestPending time.Duration
	OutboxLate    time.Duration
	// Platforms says of those that were asked whether they answered, by their few names.
	Platforms map[string]bool
	// Disk is nil when it is not known.
	Disk *Disk
}

// Disk is the room that is taken and left, in bytes where nothing else is said.
type Disk struct {
	// VolumeFree and VolumeSize are of the volume with the state directory, zero
	// when they are not known; FreeInodes is negative when it has no such limit.
	VolumeFree, VolumeSize int64
	FreeInodes             int64
	// Database is the size of the file, and DatabaseFree the part that compacting
	// would give back.
	Database, DatabaseFree int64
	Journal                int64
	// Packed is the size of packed sessions' files.
	Packed int64
	// Sessions and PackedSessions count them.
	Sessions, PackedSessions int64
}

// readTimeout bounds reading a snapshot: Prometheus waits for 10 s by default.
const readTimeout = 5 * time.Second

// snapshots collects what is true when metrics are read.
type snapshots struct {
	read func(context.Context) Snapshot
	mu   sync.Mutex

	running, sessions, turns, turnLimit, queued *prometheus.Desc
	deciding, delivering, storing, memory       *prometheus.Desc
	oldest, late, platform                      *prometheus.Desc
	volumeFree, volumeSize, inodes              *prometheus.Desc
	stored, databaseFree, kept                  *prometheus.Desc
}

func newSnapshots(read func(context.Context) Snapshot) *snapshots {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &snapshots{
		read:         read,
		running:      desc("liaison_engine_running", "1 while the engine works, 0 before it has recovered."),
		sessions:     desc("liaison_sessions_active", "Sessions with something under way or in line."),
		turns:        desc("liaison_turns_running", "Turns that run."),
		turnLimit:    desc("liaison_turns_running_limit", "Most turns that run at once."),
		queued:       desc("liaison_turns_queued", "Sessions whose turn stands in line."),
		deciding:     desc("liaison_deliveries_deciding", "Deliveries about which a decision is being taken."),
		delivering:   desc("liaison_effects_delivering", "Writes to platforms that are under way."),
		storing:      desc("liaison_webhooks_storing", "Verified webhooks that are being stored."),
		memory:       desc("liaison_webhook_memory_bytes", "Memory lent for the bodies of webhooks of up to 256 KiB."),
		oldest:       desc("liaison_delivery_oldest_pending_seconds", "Age of the oldest delivery that is not decided."),
		late:         desc("liaison_outbox_late_seconds", "How long ago the next write to a platform was due."),
		platform:     desc("liaison_platform_up", "1 when a platform answered the last time it was asked.", "platform"),
		volumeFree:   desc("liaison_volume_free_bytes", "Room left on the volume with the state directory."),
		volumeSize:   desc("liaison_volume_size_bytes", "Size of the volume with the state directory."),
		inodes:       desc("liaison_volume_free_inodes", "Files that can still be made on that volume."),
		stored:       desc("liaison_store_size_bytes", "Size of the files of the store.", "part"),
		databaseFree: desc("liaison_store_reclaimable_bytes", "Part of the database's size that compacting would give back."),
		kept:         desc("liaison_sessions_stored", "Sessions on file.", "form"),
	}
}

// Describe implements [prometheus.Collector].
func (s *snapshots) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		s.running, s.sessions, s.turns, s.turnLimit, s.queued, s.deciding, s.delivering, s.storing, s.memory,
		s.oldest, s.late, s.platform, s.volumeFree, s.volumeSize, s.inodes, s.stored, s.databaseFree, s.kept,
	} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (s *snapshots) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	now := s.read(ctx)
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(s.running, truth(now.Running))
	gauge(s.sessions, float64(now.ActiveSessions))
	gauge(s.turns, float64(now.RunningTurns))
	gauge(s.turnLimit, float64(now.MaxRunningTurns))
	gauge(s.queued, float64(now.QueuedTurns))
	gauge(s.deciding, float64(now.Deciding))
	gauge(s.delivering, float64(now.Delivering))
	gauge(s.storing, float64(now.Storing))
	gauge(s.memory, float64(now.BodyMemory))
	gauge(s.oldest, max(now.OldestPending, 0).Seconds())
	gauge(s.late, max(now.OutboxLate, 0).Seconds())
	for platform, up := range now.Platforms {
		gauge(s.platform, truth(up), platform)
	}
	if d := now.Disk; d != nil {
		if d.VolumeSize > 0 {
			gauge(s.volumeFree, float64(d.VolumeFree))
			gauge(s.volumeSize, float64(d.VolumeSize))
		}
		if d.FreeInodes >= 0 {
			gauge(s.inodes, float64(d.FreeInodes))
		}
		gauge(s.stored, float64(d.Database), "database")
		gauge(s.stored, float64(d.Journal), "journal")
		gauge(s.stored, float64(d.Packed), "packed")
		gauge(s.databaseFree, float64(d.DatabaseFree))
		gauge(s.kept, float64(d.PackedSessions), "packed")
		gauge(s.kept, float64(d.Sessions-d.PackedSessions), "open")
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
