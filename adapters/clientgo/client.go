package clientgo

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// client is the [lw.ListerWatcher] of an informer. It requests protobuf if the Go type of the objects supports it, and
// switches to JSON after a 406 response.
type client struct {
	informer *informer
	opts     lw.ClientOptions
	rejected atomic.Bool

	mu             sync.Mutex
	json, protobuf *lw.Client[*object] // created before the first request; protobuf is nil if the informer requests only JSON

	source lw.Source[*object]
}

func (l *client) Source() *lw.Source[*object] { return &l.source }

func (l *client) List(ctx context.Context, opts lw.ListOptions) *lw.Page[*object] {
	page, reuse := new(lw.Page[*object]), opts.Reuse
	page.Objects = negotiate(ctx, l, func(made *lw.Client[*object], yield func(*object, error) bool) {
		opts.Reuse = reuse.Pass(l, made)
		response := made.List(ctx, opts)
		response.Objects(yield)
		page.ListMeta = response.ListMeta
	})
	return page
}

func (l *client) Watch(ctx context.Context, opts lw.WatchOptions) iter.Seq2[lw.Event[*object], error] {
	reuse := opts.Reuse
	return negotiate(ctx, l, func(made *lw.Client[*object], yield func(lw.Event[*object], error) bool) {
		opts.Reuse = reuse.Pass(l, made)
		made.Watch(ctx, opts)(yield)
	})
}

// clients returns the clients for JSON and protobuf, and creates them on the first call.
func (l *client) clients(ctx context.Context) (json, protobuf *lw.Client[*object], err error) {
	target, err := l.informer.source.resolve(ctx)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.json != nil {
		return l.json, l.protobuf, nil
	}
	resource, _ := target.resource()
	if l.informer.codec.protobuf() && target.protobuf {
		if l.protobuf, err = lw.NewClient(l.informer.source, resource, messageCodec{objectCodec: l.informer.codec}, &l.opts); err != nil {
			return nil, nil, err
		}
	}
	l.json, err = lw.NewClient(l.informer.source, resource, l.informer.codec, &l.opts)
	return l.json, l.protobuf, err
}

// negotiate sends a request and yields the results. If the server rejects protobuf before the first result, negotiate
// repeats the request with JSON.
func negotiate[V any](ctx context.Context, l *client, request func(made *lw.Client[*object], yield func(V, error) bool)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		json, protobuf, err := l.clients(ctx)
		if err != nil {
			var none V
			yield(none, err)
			return
		}
		if protobuf == nil || l.rejected.Load() {
			request(json, yield)
			return
		}
		begun, repeat := false, false
		request(protobuf, func(value V, err error) bool {
			if isNotAcceptable(err) {
				l.rejected.Store(true)
				if !begun {
					repeat = true
					return false
				}
			}
			begun = true
			return yield(value, err)
		})
		if repeat {
			request(json, yield)
		}
	}
}
