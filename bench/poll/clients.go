package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// follower keeps a store equal to the server's Pods, over a connection of its own.
type follower interface {
	// follow tells of every version that comes into the store, and that the store is equal now; then it goes on when the window
	// begins.
	follow(ctx context.Context, seen func(version int64), synced func(), window <-chan struct{})
	answered() int64 // lists that were read to their end, or needed not be
}

func newClient(transport lw.Transport) *lw.Client[*lw.Object] {
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	measure.Must(err)
	return client
}

func newTransport(server string, opts *lwhttp.Options) lw.Transport {
	transport, err := lwhttp.New(server, opts)
	measure.Must(err)
	return transport
}

// watcher follows by a watch.
type watcher struct {
	reflector *cache.Reflector[*lw.Object]
}

func newWatcher(server string) follower {
	return watcher{cache.NewReflector(newClient(newTransport(server, nil)), nil)}
}

func (w watcher) follow(ctx context.Context, seen func(int64), synced func(), _ <-chan struct{}) {
	for event, deltas := range w.reflector.Deltas(ctx) {
		for _, delta := range deltas {
			seen(versionOf(delta.New))
		}
		if event.Type == lw.Live {
			synced()
		}
	}
}

func (w watcher) answered() int64 { return 0 }

// poller follows by a list every so often, beginning at a time of its own. Objects that it holds already cost it nothing
// but reading them, as when a Reflector lists again.
type poller struct {
	every  time.Duration
	source lw.ListerWatcher[*lw.Object]
	store  *cache.Store[*lw.Object]
	writer *cache.Writer[*lw.Object]
	lists  atomic.Int64
}

func newPoller(server string, every time.Duration, tagged bool) follower {
	p := &poller{every: every}
	transport := newTransport(server, nil)
	if tagged {
		transport = &tagging{server: server}
	}
	p.store, p.writer = cache.NewStore[*lw.Object](nil)
	p.source = newClient(transport).Recall(func(namespace, name, version []byte) (*lw.Object, bool) {
		pod, ok := p.store.Get(lw.Key{Namespace: string(namespace), Name: string(name)})
		return pod, ok && pod.GetResourceVersion() == string(version)
	})
	return p
}

func (p *poller) follow(ctx context.Context, seen func(int64), synced func(), window <-chan struct{}) {
	if !p.poll(ctx, seen) {
		panic("the first list fails")
	}
	synced()
	<-window
	select {
	case <-time.After(rand.N(p.every)):
	case <-ctx.Done():
	}
	ticker := time.NewTicker(p.every) // leaves out what comes while a list is under way
	defer ticker.Stop()
	for ctx.Err() == nil {
		if p.poll(ctx, seen) {
			p.lists.Add(1)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// poll asks for the cheapest list that there is: whole, and from the server's cache.
func (p *poller) poll(ctx context.Context, seen func(int64)) (ok bool) {
	var meta lw.ListMeta
	p.writer.Fold(lw.Event[*lw.Object]{Type: lw.Reset})
	for pod, err := range p.source.List(ctx, lw.ListOptions{ResourceVersion: "0"}, &meta) {
		if err != nil {
			return err == errNotModified
		}
		for _, delta := range p.writer.Fold(lw.Event[*lw.Object]{Type: lw.Added, Object: pod}) {
			seen(versionOf(delta.New))
		}
	}
	p.writer.Fold(lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: meta.ResourceVersion})
	return ctx.Err() == nil
}

func (p *poller) answered() int64 { return p.lists.Load() }

func versionOf(pod *lw.Object) int64 {
	version, err := strconv.ParseInt(pod.GetResourceVersion(), 10, 64)
	measure.Must(err)
	return version
}

var errNotModified = errors.New("not modified")

// tagging is a transport that asks for lists only if they have changed, as HTTP has it.
type tagging struct {
	server, tag string
	http.Transport
}

func (t *tagging) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.server+req.Path+"?"+req.Query, nil)
	measure.Must(err)
	if t.tag != "" {
		request.Header.Set("If-None-Match", t.tag)
	}
	response, err := t.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		if response.StatusCode == http.StatusNotModified {
			return nil, errNotModified
		}
		return nil, errors.New(response.Status)
	}
	t.tag = response.Header.Get("ETag")
	return response.Body, nil
}
