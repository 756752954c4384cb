package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// client is an informer or an lwcat process, and its measurements.
type client struct {
	name    string
	changes *changes
	outages outages
}

func newClient(name string) *client { return &client{name: name, changes: newChanges()} }

// start starts the informer and waits until it has synced. A trace records the outages of listwatch, and an observer
// records the outages of client-go.
func (c *client) start(ctx context.Context, server string, running *sync.WaitGroup) error {
	options := clients.Options{
		URL:  server,
		Wrap: func(next http.RoundTripper) http.RoundTripper { return observer{next, &c.outages} },
	}
	trace := &lw.Trace{
		Event: func(event lw.Event[lw.Keyed]) {
			switch event.Type {
			case lw.Interrupted:
				c.outages.begin(time.Now())
			case lw.WatchStarted:
				c.outages.end(time.Now())
			}
		},
	}
	informer := clients.New(c.name, options)("flap")
	informer.Handle(func(pod clients.Pod) {
		ns := harness.MustGet(strconv.ParseInt(written(pod), 10, 64))
		c.changes.saw(pod.GetName(), time.Unix(0, ns), time.Now())
	})
	running.Go(func() { informer.Run(lw.WithTrace(ctx, trace)) })
	syncing, stop := context.WithTimeout(ctx, maxWait)
	defer stop()
	return informer.WaitForSync(syncing)
}

// writtenAt is the annotation with the time of the last write, in nanoseconds since 1970.
const writtenAt = "bench/written"

func written(pod clients.Pod) (nanoseconds string) {
	switch pod := pod.(type) {
	case *lw.Object:
		nanoseconds, _ = pod.Annotation(writtenAt)
	case *unstructured.Unstructured:
		nanoseconds = pod.GetAnnotations()[writtenAt]
	}
	return nanoseconds
}

// observer records an outage from the end of each watch response to the next successful watch response.
type observer struct {
	http.RoundTripper
	outages *outages
}

// RoundTrip implements http.RoundTripper.
func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && r.URL.Query().Has("watch") {
		o.outages.end(time.Now())
		response.Body = &observed{ReadCloser: response.Body, outages: o.outages}
	}
	return response, err
}

// observed is the body of a watch response. The first read error begins an outage.
type observed struct {
	io.ReadCloser
	outages *outages
	ended   bool
}

// Read implements io.Reader.
func (b *observed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !b.ended {
		b.ended = true
		b.outages.begin(time.Now())
	}
	return n, err
}

// changes measures the delay from each write to the handler call that delivers it. If an object is written again before
// the call, the call ends both delays.
type changes struct {
	mu      sync.Mutex
	pending map[string][]time.Time // times of the undelivered writes, by object name
	delays  []float64              // delays of the delivered writes in milliseconds
}

func newChanges() *changes { return &changes{pending: map[string][]time.Time{}} }

// wrote records the time of a write. Calls must be in chronological order.
func (c *changes) wrote(name string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[name] = append(c.pending[name], at)
}

// saw records a handler call. The parameter wrote is the time at which the received object was written, and now is the
// time of the call.
func (c *changes) saw(name string, wrote, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pending := c.pending[name]
	for len(pending) > 0 && !pending[0].After(wrote) {
		c.delays = append(c.delays, now.Sub(pending[0]).Seconds()*1000)
		pending = pending[1:]
	}
	c.pending[name] = pending
}

// seen returns the delays of all delivered writes in milliseconds.
func (c *changes) seen() []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.delays)
}

func (c *changes) unseen() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.pending {
		n += len(one)
	}
	return n
}

// drain waits until every write has been delivered. It returns an error after maxWait, or if ctx is done.
func (c *changes) drain(ctx context.Context) error {
	for deadline := time.Now().Add(maxWait); c.unseen() > 0; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("the client did not receive %d writes", c.unseen())
		}
	}
	return nil
}

// outages records the periods in which a client has no open watch.
type outages struct {
	mu  sync.Mutex
	all []outage
}

type outage struct{ from, to time.Time } // the field to is zero until the outage ends

// begin records the end of a watch. It has no effect during an outage.
func (o *outages) begin(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) == 0 || !o.all[len(o.all)-1].to.IsZero() {
		o.all = append(o.all, outage{from: now})
	}
}

// end records the start of a watch. It has no effect if there is no outage.
func (o *outages) end(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := len(o.all) - 1; last >= 0 && o.all[last].to.IsZero() {
		o.all[last].to = now
	}
}

// within returns the number of outages that began in a period, and the fraction of the period without a watch.
func (o *outages) within(from, to time.Time) (n int, share float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var total time.Duration
	for _, one := range o.all {
		begin, end := one.from, one.to
		if begin.After(from) && begin.Before(to) {
			n++
		}
		if begin.Before(from) {
			begin = from
		}
		if end.IsZero() || end.After(to) {
			end = to
		}
		total += max(0, end.Sub(begin))
	}
	return n, total.Seconds() / to.Sub(from).Seconds()
}
