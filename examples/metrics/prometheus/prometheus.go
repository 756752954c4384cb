// Package prometheus records a stream's [lw.Trace] as Prometheus metrics.
package prometheus

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-6d2a410a/listwatch/examples/metrics/internal/measure"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Trace registers a stream's metrics and returns a trace that records them. resource is the value of the label
// "resource" in all metrics, for example "pods". It must be unique for each stream; Trace returns an error if it is
// already registered. The trace may be reused after the stream has ended, but not for two streams at the same time.
//
// Labels never contain data from objects, request paths or error messages.
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
			m.state.Begin()
			m.requests.WithLabelValues(measure.Verb(req)).Inc()
		},
		Opened: func(req *lw.Request, err error) {
			m.open.WithLabelValues(measure.Verb(req)).Observe(time.Since(began).Seconds())
			if err != nil {
				m.failures.WithLabelValues(measure.Verb(req), measure.Cause(err)).Inc()
			}
		},
		Read:       func(bytes int) { m.bytes.Add(float64(bytes)) },
		Frame:      func(t lw.EventType, bytes int) { m.frames.WithLabelValues(t.String()).Observe(float64(bytes)) },
		Page:       func(lw.ListMeta) { m.pages.Inc() },
		Event:      m.event,
		Switched:   func(cause error) { m.switches.WithLabelValues(measure.Cause(cause)).Inc() },
		Redirected: func(string) { m.redirects.Inc() },
		Stopped:    m.state.End,
	}, nil
}

// metrics collects all of a stream's metrics in one collector, so that they are registered together or not at all.
type metrics struct {
	all []prometheus.Collector

	requests, failures, interruptions, relists, switches *prometheus.CounterVec
	bytes, pages, bookmarks, lists, undecoded, redirects prometheus.Counter
	open, frames                                         *prometheus.HistogramVec
	delay                                                prometheus.Histogram
	state                                                *measure.State
}

func newMetrics() *metrics {
	m := &metrics{state: measure.NewState()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return added(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return added(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels))
	}
	m.requests = counter("listwatch_requests_total", "Number of requests.", "verb")
	m.failures = counter("listwatch_request_failures_total", "Number of requests that failed before a response could be read.", "verb", "cause")
	m.open = histogram("listwatch_request_open_duration_seconds", "Time between a request and its response header or failure.", measure.OpenSeconds, "verb")
	m.bytes = counter("listwatch_read_bytes_total", "Number of response bytes read, after decompression.").WithLabelValues()
	m.frames = histogram("listwatch_frame_size_bytes", "Size of list items and of objects in watch events.", measure.FrameBytes, "type")
	m.pages = counter("listwatch_list_pages_total", "Number of complete list pages, including the pages of resourceVersion checks.").WithLabelValues()
	m.lists = counter("listwatch_lists_total", "Number of complete lists.").WithLabelValues()
	m.bookmarks = counter("listwatch_bookmarks_total", "Number of received bookmarks.").WithLabelValues()
	m.undecoded = counter("listwatch_undecoded_total", "Number of objects that the codec could not decode.").WithLabelValues()
	m.interruptions = counter("listwatch_interruptions_total", "Number of interruptions of the stream. The cause \"closed\" means that the watch closed cleanly.", "cause")
	m.relists = counter("listwatch_relists_total", "Number of interruptions that cause a relist.", "cause")
	m.switches = counter("listwatch_switches_total", "Number of switches to another transport, by the error of the previous transport.", "cause")
	m.redirects = counter("listwatch_redirects_total", "Number of requests redirected to another origin, without credentials.").WithLabelValues()
	m.delay = added(m, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "listwatch_retry_delay_seconds", Help: "Delay between an interruption and the next attempt.", Buckets: measure.DelaySeconds}))
	added(m, newPhase(m.state))
	return m
}

// added adds a metric to m and returns it.
func added[C prometheus.Collector](m *metrics, metric C) C {
	m.all = append(m.all, metric)
	return metric
}

func (m *metrics) event(event lw.Event[lw.Keyed]) {
	m.state.Event(event)
	switch event.Type {
	case lw.Bookmark:
		m.bookmarks.Inc()
	case lw.DecodeFailed:
		m.undecoded.Inc()
	case lw.Synced:
		m.lists.Inc()
	case lw.Interrupted:
		m.interrupted(event.Interruption)
	}
}

func (m *metrics) interrupted(b *lw.Interruption) {
	cause := measure.Cause(b.Err)
	m.interruptions.WithLabelValues(cause).Inc()
	if b.Relist {
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

// phase collects a stream's phase. It loads the state once per scrape, so that exactly one phase is 1.
type phase struct {
	state          *measure.State
	current, start *prometheus.Desc
}

func newPhase(state *measure.State) *phase {
	return &phase{
		state:   state,
		current: prometheus.NewDesc("listwatch_phase", "1 for the current phase of the stream, otherwise 0. The state is current in the phase live.", []string{"phase"}, nil),
		start:   prometheus.NewDesc("listwatch_phase_start_time_seconds", "Time at which the current phase began, in seconds since the Unix epoch.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (p *phase) Describe(descs chan<- *prometheus.Desc) {
	descs <- p.current
	descs <- p.start
}

// Collect implements [prometheus.Collector].
func (p *phase) Collect(metrics chan<- prometheus.Metric) {
	state := p.state.Load()
	for _, one := range measure.Phases() {
		metrics <- prometheus.MustNewConstMetric(p.current, prometheus.GaugeValue, is(one, state.Phase), one.String())
	}
	metrics <- prometheus.MustNewConstMetric(p.start, prometheus.GaugeValue, float64(state.Since.UnixNano())/1e9)
}

func is(one, current lw.Phase) float64 {
	if one == current {
		return 1
	}
	return 0
}
