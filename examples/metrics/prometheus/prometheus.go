// Package prometheus shows a stream's [lw.Trace] as Prometheus metrics.
package prometheus

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/seed-6d2a410a/listwatch/examples/metrics/internal/measure"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Trace registers the metrics of one stream, and returns the trace that feeds them. Every metric has the label resource:
// give each stream one of its own, as "pods"; a second stream of the same name is an error. The trace serves one stream at
// a time, and the next one of the same resource after it has ended.
//
// Nothing of an object, a request's path or an error's text becomes a label.
func Trace(registerer prometheus.Registerer, resource string) (*lw.Trace, error) {
	m := newMetrics()
	err := prometheus.WrapRegistererWith(prometheus.Labels{"resource": resource}, registerer).Register(m)
	if err != nil {
		return nil, err
	}
	var began time.Time
	return &lw.Trace{
		Open: func(req *lw.Request) {
			began = time.Now()
			m.requests.WithLabelValues(measure.Verb(req)).Inc()
		},
		Opened: func(req *lw.Request, err error) {
			m.open.WithLabelValues(measure.Verb(req)).Observe(time.Since(began).Seconds())
			if err != nil {
				m.failures.WithLabelValues(measure.Verb(req), measure.Cause(err)).Inc()
			}
		},
		Read:         func(bytes int) { m.bytes.Add(float64(bytes)) },
		Frame:        func(t lw.EventType, bytes int) { m.frames.WithLabelValues(t.String()).Observe(float64(bytes)) },
		Page:         func(lw.ListMeta) { m.pages.Inc() },
		Bookmark:     func(string) { m.bookmarks.Inc() },
		DecodeFailed: func(*lw.DecodeError) { m.undecoded.Inc() },
		Synced:       func(string) { m.lists.Inc(); m.synced.Set(1) },
		WatchStarted: func(string) { m.live.Set(1) },
		Interrupted:  m.interrupted,
		Switched:     func(cause error) { m.switches.WithLabelValues(measure.Cause(cause)).Inc() },
		Redirected:   func(string) { m.redirects.Inc() },
		Stopped:      func() { m.live.Set(0) },
	}, nil
}

// metrics are registered as one collector, so that either all are or none is.
type metrics struct {
	all []prometheus.Collector

	requests, failures, interruptions, relists, switches *prometheus.CounterVec
	bytes, pages, bookmarks, lists, undecoded, redirects prometheus.Counter
	open, frames                                         *prometheus.HistogramVec
	delay                                                prometheus.Histogram
	live, synced                                         prometheus.Gauge
}

func newMetrics() *metrics {
	m := &metrics{}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return added(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return added(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels))
	}
	gauge := func(name, help string) prometheus.Gauge {
		return added(m, prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help}))
	}
	m.requests = counter("listwatch_requests_total", "Requests made.", "verb")
	m.failures = counter("listwatch_request_failures_total", "Requests without a response that could be read.", "verb", "cause")
	m.open = histogram("listwatch_request_open_duration_seconds", "Time from a request to its response's header, or to the failure.", measure.OpenSeconds, "verb")
	m.bytes = counter("listwatch_read_bytes_total", "Bytes of responses read, after decompression.").WithLabelValues()
	m.frames = histogram("listwatch_frame_size_bytes", "Sizes of list items and of watch events' objects.", measure.FrameBytes, "type")
	m.pages = counter("listwatch_list_pages_total", "Pages of lists read to their end; that of a check of the version is one.").WithLabelValues()
	m.lists = counter("listwatch_lists_total", "Lists completed.").WithLabelValues()
	m.bookmarks = counter("listwatch_bookmarks_total", "Bookmarks received.").WithLabelValues()
	m.undecoded = counter("listwatch_undecoded_total", "Objects that the codec could not decode.").WithLabelValues()
	m.interruptions = counter("listwatch_interruptions_total", "Interruptions of the stream; those with the cause closed are in good order.", "cause")
	m.relists = counter("listwatch_relists_total", "Interruptions that a list follows.", "cause")
	m.switches = counter("listwatch_switches_total", "Changes to another transport, by what was wrong with the one before.", "cause")
	m.redirects = counter("listwatch_redirects_total", "Requests that went on to another origin, without credentials.").WithLabelValues()
	m.delay = added(m, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "listwatch_retry_delay_seconds", Help: "Delays between an interruption and the next try.", Buckets: measure.DelaySeconds}))
	m.live = gauge("listwatch_live", "1 while a watch is open and what was folded is fresh, else 0.")
	m.synced = gauge("listwatch_synced", "1 from a complete list until another one is needed, else 0.")
	return m
}

// added puts a metric among all.
func added[C prometheus.Collector](m *metrics, metric C) C {
	m.all = append(m.all, metric)
	return metric
}

func (m *metrics) interrupted(b *lw.Interruption) {
	cause := measure.Cause(b.Err)
	m.live.Set(0)
	m.interruptions.WithLabelValues(cause).Inc()
	if b.Relist {
		m.synced.Set(0)
		m.relists.WithLabelValues(cause).Inc()
	}
	if !b.Final {
		m.delay.Observe(b.Delay.Seconds())
	}
}

// Describe implements [prometheus.Collector].
func (m *metrics) Describe(descs chan<- *prometheus.Desc) {
	for _, metric := range m.all {
		metric.Describe(descs)
	}
}

// Collect implements [prometheus.Collector].
func (m *metrics) Collect(metrics chan<- prometheus.Metric) {
	for _, metric := range m.all {
		metric.Collect(metrics)
	}
}
