package clientgo

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/internal/recall"
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
}

func (*client) StreamsLists() bool { return true }

func (l *client) List(ctx context.Context, opts lw.ListOptions, meta *lw.ListMeta) iter.Seq2[*object, error] {
	return negotiate(ctx, l, func(ctx context.Context, made *lw.Client[*object]) iter.Seq2[*object, error] {
		return made.List(ctx, opts, meta)
	})
}

func (l *client) Watch(ctx context.Context, opts lw.WatchOptions) iter.Seq2[lw.Event[*object], error] {
	return negotiate(ctx, l, func(ctx context.Context, made *lw.Client[*object]) iter.Seq2[lw.Event[*object], error] {
		return made.Watch(ctx, opts)
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
func negotiate[V any](ctx context.Context, l *client, request func(context.Context, *lw.Client[*object]) iter.Seq2[V, error]) iter.Seq2[V, error] {
	held := recall.From[*object](ctx, l)
	of := func(made *lw.Client[*object]) iter.Seq2[V, error] {
		return request(recall.With(ctx, made, held), made)
	}
	return func(yield func(V, error) bool) {
		json, protobuf, err := l.clients(ctx)
		if err != nil {
			var none V
			yield(none, err)
			return
		}
		if protobuf == nil || l.rejected.Load() {
			of(json)(yield)
			return
		}
		begun := false
		for value, err := range of(protobuf) {
			if isNotAcceptable(err) {
				l.rejected.Store(true)
				if !begun {
					of(json)(yield)
					return
				}
			}
			begun = true
			if !yield(value, err) {
				return
			}
		}
	}
}
