package soak

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// longestDelay is the longest retry delay for which a follower waits. If a delay is longer, the follower restarts its
// informer. Steadfast followers wait for every delay.
const longestDelay = 4 * time.Second

// follower runs an informer over faulty connections. While run is running, only the counters may be read.
type follower struct {
	kind
	informer *cache.Informer[*lw.Object]
	release  func()
	replay   *replay
	story    story
	causes   *tally
	calm     context.Context // done when the faults stop; later delays have no limit
	logf     func(format string, args ...any)
	last     error // cause of the latest interruption
	wrong    error // an interruption that the injected faults cannot cause, and that therefore fails the test

	events, changes, breaks, lists, streams, pages, runs atomic.Int64
}

// newFollower returns a follower of the ConfigMaps on the server at url. seed determines the lengths at which responses
// are truncated.
func (s *soak) newFollower(k kind, url string, seed uint64) (*follower, error) {
	options := &lwhttp.Options{Token: s.cluster.AdminToken}
	release := func() {}
	if k.steadfast {
		options.CAData = s.cluster.CAPEM
	} else {
		options.Client = s.httpClient(k.http2)
		release = options.Client.CloseIdleConnections
	}
	transport, err := lwhttp.New(url, options)
	if err != nil {
		return nil, err
	}
	w := &wire{Transport: transport, edit: k.edit, idleTimeout: k.idleTimeout}
	if k.cuts {
		w.cut = untilCalm(s.calm, lengths(seed))
	}
	client, err := lw.NewClient(w, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}, lw.RawCodec{}, nil)
	if err != nil {
		return nil, err
	}
	return &follower{
		kind: k, informer: cache.NewInformer(client, &k.opts), release: func() { release(); transport.Close() },
		replay: newReplay(k.opts.LabelSelector != ""), causes: &s.causes, calm: s.calm, logf: s.logf,
	}, nil
}

// httpClient returns a client with its own connections. It detects a half-open HTTP/2 connection within four
// seconds.
func (s *soak) httpClient(http2 bool) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.cluster.CAPEM)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		Protocols:           protocols,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 2 * time.Second},
	}}
}

// untilCalm returns a function for wire.cut. It returns length() until ctx is done, and then -1, which means no limit.
func untilCalm(ctx context.Context, length func() int) func() int {
	return func() int {
		if ctx.Err() != nil {
			return -1
		}
		return length()
	}
}

// run runs the informer until ctx is done, and restarts it whenever it stops. It returns an error if an event or a
// change is invalid.
func (f *follower) run(ctx context.Context) error {
	defer f.release()
	ctx = lw.WithTrace(ctx, &lw.Trace{
		Open: f.asked,
		Event: func(event lw.Event[lw.Keyed]) {
			switch event.Type {
			case lw.Synced:
				f.lists.Add(1)
			case lw.Interrupted:
				f.interrupted(event.Interruption)
			}
		},
	})
	for ctx.Err() == nil {
		f.runs.Add(1)
		if err := f.once(ctx); err != nil {
			return f.explain(err)
		}
	}
	return nil
}

func (f *follower) once(ctx context.Context) error {
	for event, changes := range f.informer.Follow(ctx) {
		f.events.Add(1)
		f.changes.Add(int64(len(changes)))
		f.story.add(event)
		if err := errors.Join(f.replay.step(event, changes), f.wrong); err != nil {
			return err
		}
		if b := event.Interruption; b != nil && b.Delay > longestDelay && !f.steadfast && f.calm.Err() == nil {
			return nil
		}
	}
	return nil
}

// asked counts requests for streaming lists and for pages. It logs when a follower falls back from streaming lists
// to paged lists.
func (f *follower) asked(req *lw.Request) {
	switch {
	case strings.Contains(req.Query, "sendInitialEvents=true"):
		f.streams.Add(1)
	case !req.Watch:
		if f.pages.Add(1) == 1 && !f.opts.NoStreamingList {
			f.logf("%s: switched from streaming lists to paged lists: %v", f.name, f.last)
		}
	}
}

func (f *follower) interrupted(b *lw.Interruption) {
	f.breaks.Add(1)
	f.last = b.Err
	cause, err := causeOf(b.Err)
	if err != nil {
		f.wrong = fmt.Errorf("the injected faults cannot cause this interruption: %w", err)
		return
	}
	f.causes.add(cause)
}

// explain adds the name of the follower and its latest events to an error.
func (f *follower) explain(err error) error {
	return fmt.Errorf("%s: %w\nlast events:\n%v", f.name, err, &f.story)
}
