package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// Metrics counts. Its methods may be called by many goroutines and never wait.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger

	requests  *prometheus.CounterVec
	bodyBytes *prometheus.CounterVec
	ack       *prometheus.HistogramVec
	decided   *prometheus.CounterVec
	wait      *prometheus.HistogramVec
	turns     *prometheus.HistogramVec
	turnQueue *prometheus.HistogramVec
	effects   *prometheus.HistogramVec
	events    prometheus.Counter
	missed    *prometheus.CounterVec
	recovered *prometheus.CounterVec
}

// Options says what is counted about.
type Options struct {
	// Version is the program's.
	Version string
	// Read returns what is true now. It is called for each reading of the metrics,
	// by one goroutine at a time, and should take far less than a second.
	Read func(context.Context) Snapshot
	// Logger is told why metrics cannot be read.
	Logger *slog.Logger
}

// Buckets, in seconds.
var (
	// An acknowledgement is a flush of the disk; GitHub gives up after 10 s, Slack after 3 s.
	ackBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 3, 10}
	// A delivery is decided within milliseconds, or after an outage.
	waitBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 120, 600, 3600}
	// A turn takes minutes, by default 30 at most.
	turnBuckets = []float64{.1, 1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600}
	// A write to a platform is one or two calls of its API; two minutes end it.
	effectBuckets = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}
)

// New returns metrics of which nothing was counted yet.
func New(o Options) *Metrics {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		log:      o.Logger,
		requests: counter("liaison_webhook_requests_total",
			"Webhooks by what they were answered.", "source", "answer"),
		bodyBytes: counter("liaison_webhook_body_bytes_total",
			"Bytes of webhooks' bodies that were read.", "source"),
		ack: histogram("liaison_webhook_acknowledgement_seconds",
			"Time from a webhook's headers to the answer that it is stored.", ackBuckets, "source"),
		decided: counter("liaison_deliveries_decided_total",
			"Deliveries by what was decided about them.", "source", "status"),
		wait: histogram("liaison_delivery_wait_seconds",
			"Time from a delivery's arrival to the decision about it.", waitBuckets, "source"),
		turns: histogram("liaison_turn_duration_seconds",
			"Time that turns ran, by how they ended.", turnBuckets, "channel", "status"),
		turnQueue: histogram("liaison_turn_queue_seconds",
			"Time that turns stood in line before they ran.", turnBuckets, "channel"),
		effects: histogram("liaison_effect_attempt_seconds",
			"Time of attempts to write to a platform, by how they ended.", effectBuckets, "channel", "result"),
		missed: counter("liaison_deliveries_missed_total",
			"Deliveries that did not arrive and were found afterwards.", "source"),
		recovered: counter("liaison_deliveries_recovered_total",
			"Deliveries that did not arrive and were fetched, or asked for again.", "source", "how"),
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "liaison_events_appended_total", Help: "Events appended to the records of sessions.",
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "liaison_build_info", Help: "Always 1; its label is the version of the program.",
		ConstLabels: prometheus.Labels{"version": o.Version},
	})
	build.Set(1)
	m.registry.MustRegister(
		m.requests, m.bodyBytes, m.ack, m.decided, m.wait, m.turns, m.turnQueue, m.effects, m.events, m.missed, m.recovered, build,
		newSnapshots(o.Read),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// WebhookAnswered counts a webhook that was answered; stored is set when the
// answer says that it is.
func (m *Metrics) WebhookAnswered(source, answer string, stored bool, bytes int, took time.Duration) {
	m.requests.WithLabelValues(source, answer).Inc()
	m.bodyBytes.WithLabelValues(source).Add(float64(bytes))
	if stored {
		m.ack.WithLabelValues(source).Observe(took.Seconds())
	}
}

// DeliveryDecided counts a decision about a delivery, which waited for so long.
func (m *Metrics) DeliveryDecided(source, status string, waited time.Duration) {
	m.decided.WithLabelValues(source, status).Inc()
	m.wait.WithLabelValues(source).Observe(waited.Seconds())
}

// TurnEnded counts a turn that stood in line and ran for so long.
func (m *Metrics) TurnEnded(channel, status string, queued, ran time.Duration) {
	m.turns.WithLabelValues(channel, status).Observe(ran.Seconds())
	m.turnQueue.WithLabelValues(channel).Observe(queued.Seconds())
}

// EffectSettled counts an attempt to write to a platform.
func (m *Metrics) EffectSettled(channel, result string, took time.Duration) {
	m.effects.WithLabelValues(channel, result).Observe(took.Seconds())
}

// EventsAppended counts events of sessions' records.
func (m *Metrics) EventsAppended(n int) { m.events.Add(float64(n)) }

// DeliveriesMissed counts deliveries that did not arrive.
func (m *Metrics) DeliveriesMissed(source string, n int) {
	m.missed.WithLabelValues(source).Add(float64(n))
}

// DeliveriesRecovered counts deliveries that were recovered, by how.
func (m *Metrics) DeliveriesRecovered(source, how string, n int) {
	m.recovered.WithLabelValues(source, how).Add(float64(n))
}

// ServeHTTP shows the metrics in Prometheus' text format.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	families, err := m.registry.Gather()
	if err != nil {
		// What could be read is shown: half a picture is better than none.
		m.log.Error("metrics could not all be read", "error", err)
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	w.Header().Set("Content-Type", string(format))
	encoder := expfmt.NewEncoder(w, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return // whoever read it went away
		}
	}
}
