// Package otel records a stream's [lw.Trace] as OpenTelemetry metrics.
package otel

import (
	"context"
	"errors"
	"time"

	"github.com/seed-6d2a410a/listwatch/examples/metrics/internal/measure"
	"github.com/seed-6d2a410a/listwatch/lw"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Trace returns a trace that records a stream's OpenTelemetry metrics. resource is the value of the attribute
// listwatch.resource in all measurements. It must be unique for each stream, for example "pods". The trace may be
// reused after the stream has ended, but not for two streams at the same time.
//
// Attributes never contain data from objects, request paths or error messages.
func Trace(meter metric.Meter, resource string) (*lw.Trace, error) {
	m, err := newInstruments(meter, attribute.String("listwatch.resource", resource))
	if err != nil {
		return nil, err
	}
	// The functions of lw.Trace receive no context, so measurements have no span.
	ctx, attrs := context.Background(), m.with()
	var began time.Time
	return &lw.Trace{
		Open: func(*lw.Request) {
			began = time.Now()
			m.state.Begin()
		},
		Opened: func(req *lw.Request, err error) {
			labels := []attribute.KeyValue{attribute.String("listwatch.verb", measure.Verb(req))}
			if err != nil {
				labels = append(labels, attribute.String("error.type", measure.Cause(err)))
			}
			m.open.Record(ctx, time.Since(began).Seconds(), m.with(labels...))
		},
		Read: func(bytes int) { m.bytes.Add(ctx, int64(bytes), attrs) },
		Frame: func(t lw.EventType, bytes int) {
			m.frames.Record(ctx, int64(bytes), m.with(attribute.String("listwatch.event.type", t.String())))
		},
		Page:  func(lw.ListMeta) { m.pages.Add(ctx, 1, attrs) },
		Event: m.event,
		Switched: func(cause error) {
			m.switches.Add(ctx, 1, m.with(attribute.String("listwatch.cause", measure.Cause(cause))))
		},
		Redirected: func(string) { m.redirects.Add(ctx, 1, attrs) },
		Stopped:    m.state.End,
	}, nil
}

// instruments contains a stream's instruments and its state.
type instruments struct {
	resource attribute.KeyValue

	open, delay                                                       metric.Float64Histogram
	frames                                                            metric.Int64Histogram
	bytes, pages, lists, bookmarks, interruptions, relists, undecoded metric.Int64Counter
	switches, redirects                                               metric.Int64Counter
	state                                                             *measure.State
}

func newInstruments(meter metric.Meter, resource attribute.KeyValue) (*instruments, error) {
	m := &instruments{resource: resource, state: measure.NewState()}
	var errs []error
	failed := func(err error) { errs = append(errs, err) }
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		failed(err)
		return c
	}
	seconds := func(name, description string, boundaries []float64) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(boundaries...))
		failed(err)
		return h
	}
	m.open = seconds("listwatch.request.open.duration", "Time between a request and its response header or failure.", measure.OpenSeconds)
	m.delay = seconds("listwatch.retry.delay", "Delay between an interruption and the next attempt.", measure.DelaySeconds)
	m.bytes = counter("listwatch.read.io", "By", "Number of response bytes read, after decompression.")
	m.pages = counter("listwatch.list.pages", "{page}", "Number of complete list pages, including the pages of resourceVersion checks.")
	m.lists = counter("listwatch.lists", "{list}", "Number of complete lists.")
	m.bookmarks = counter("listwatch.bookmarks", "{bookmark}", "Number of received bookmarks.")
	m.undecoded = counter("listwatch.undecoded", "{object}", "Number of objects that the codec could not decode.")
	m.interruptions = counter("listwatch.interruptions", "{interruption}", "Number of interruptions of the stream. The cause \"closed\" means that the watch closed cleanly.")
	m.relists = counter("listwatch.relists", "{relist}", "Number of interruptions that cause a relist.")
	m.switches = counter("listwatch.switches", "{switch}", "Number of switches to another transport, by the error of the previous transport.")
	m.redirects = counter("listwatch.redirects", "{redirect}", "Number of requests redirected to another origin, without credentials.")
	var err error
	m.frames, err = meter.Int64Histogram("listwatch.frame.size", metric.WithUnit("By"),
		metric.WithDescription("Size of list items and of objects in watch events."), metric.WithExplicitBucketBoundaries(measure.FrameBytes...))
	failed(err)
	failed(m.observe(meter))
	return m, errors.Join(errs...)
}

// observe registers the metrics for the state. The phase is an UpDownCounter, like k8s.pod.status.phase in the
// OpenTelemetry conventions, so its sum over all resources is the number of streams in a phase. Both metrics are
// observable, because readers with delta temporality drop synchronous gauges that do not change.
func (m *instruments) observe(meter metric.Meter) error {
	phase, err := meter.Int64ObservableUpDownCounter("listwatch.state.phase", metric.WithUnit("{stream}"),
		metric.WithDescription("1 for the current phase of the stream, otherwise 0. The state is current in the phase live."))
	if err != nil {
		return err
	}
	age, err := meter.Float64ObservableGauge("listwatch.state.age", metric.WithUnit("s"),
		metric.WithDescription("Time since the current phase began."))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		state := m.state.Load()
		for _, one := range measure.Phases() {
			var value int64
			if one == state.Phase {
				value = 1
			}
			o.ObserveInt64(phase, value, m.with(attribute.String("listwatch.state.phase", one.String())))
		}
		o.ObserveFloat64(age, time.Since(state.Since).Seconds(), m.with())
		return nil
	}, phase, age)
	return err
}

func (m *instruments) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, m.resource)...))
}

func (m *instruments) event(event lw.Event[lw.Keyed]) {
	ctx := context.Background()
	m.state.Event(event)
	switch event.Type {
	case lw.Bookmark:
		m.bookmarks.Add(ctx, 1, m.with())
	case lw.DecodeFailed:
		m.undecoded.Add(ctx, 1, m.with())
	case lw.Synced:
		m.lists.Add(ctx, 1, m.with())
	case lw.Interrupted:
		m.interrupted(ctx, event.Interruption)
	}
}

func (m *instruments) interrupted(ctx context.Context, b *lw.Interruption) {
	cause := m.with(attribute.String("listwatch.cause", measure.Cause(b.Err))) // a clean close is not an error, so the attribute is not error.type
	m.interruptions.Add(ctx, 1, cause)
	if b.Relist {
		m.relists.Add(ctx, 1, cause)
	}
	if !b.Final {
		m.delay.Record(ctx, b.Delay.Seconds(), m.with())
	}
}
