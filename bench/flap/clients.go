package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// client is an informer.
type client struct {
	name    string
	changes *changes
	outages outages
}

func newClient(name string) *client { return &client{name: name, changes: newChanges()} }

// start starts the informer and waits until it has synced. An outage of listwatch lasts from Interrupted to Live. For
// client-go, see observer.
func (c *client) start(ctx context.Context, server string, running *sync.WaitGroup) error {
	options := clients.Options{
		URL:  server,
		Wrap: func(next http.RoundTripper) http.RoundTripper { return observer{next, &c.outages} },
	}
	trace := &lw.Trace{
		Interrupted: func(*lw.Break) { c.outages.begin(time.Now()) },
		Live:        func(string) { c.outages.end(time.Now()) },
	}
	informer := clients.New(c.name, options)("flap")
	informer.Handle(func(pod clients.Pod) {
		ns := harness.MustGet(strconv.ParseInt(written(pod), 10, 64))
		c.changes.saw(pod.GetName(), time.Unix(0, ns), time.Now())
	})
	running.Go(func() { informer.Run(lw.WithTrace(ctx, trace)) })
	syncing, stop := context.WithTimeout(ctx, patience)
	defer stop()
	return informer.WaitForSync(syncing)
}

// writtenAt is the annotation with the time of the last write, in nanoseconds.
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

// observer notes the outages of client-go. An outage lasts from the end of a watch's response body to the next successful
// response to a watch.
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

// observed is the response body of a watch.
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
