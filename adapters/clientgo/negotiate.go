package clientgo

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed-6d2a410a/listwatch/internal/recall"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// negotiated is a [lw.ListerWatcher] that requests protobuf. After a 406 response it requests JSON only.
type negotiated struct {
	*lw.Client[*object] // requests JSON
	protobuf            *lw.Client[*object]
	rejected            atomic.Bool
}

// List implements [lw.ListerWatcher].
func (n *negotiated) List(ctx context.Context, opts lw.ListOptions, meta *lw.ListMeta) iter.Seq2[*object, error] {
	return negotiate(ctx, n, func(ctx context.Context, client *lw.Client[*object]) iter.Seq2[*object, error] {
		return client.List(ctx, opts, meta)
	})
}

// Watch implements [lw.ListerWatcher].
func (n *negotiated) Watch(ctx context.Context, opts lw.WatchOptions) iter.Seq2[lw.Event[*object], error] {
	return negotiate(ctx, n, func(ctx context.Context, client *lw.Client[*object]) iter.Seq2[lw.Event[*object], error] {
		return client.Watch(ctx, opts)
	})
}

// negotiate makes a request. If the server rejects protobuf before the first value, negotiate repeats the request in JSON.
func negotiate[V any](ctx context.Context, n *negotiated, request func(context.Context, *lw.Client[*object]) iter.Seq2[V, error]) iter.Seq2[V, error] {
	held := recall.From[*object](ctx, n)
	of := func(client *lw.Client[*object]) iter.Seq2[V, error] {
		return request(recall.With(ctx, client, held), client)
	}
	return func(yield func(V, error) bool) {
		if n.rejected.Load() {
			of(n.Client)(yield)
			return
		}
		begun := false
		for value, err := range of(n.protobuf) {
			if isNotAcceptable(err) {
				n.rejected.Store(true)
				if !begun {
					of(n.Client)(yield)
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

// notAcceptable returns the error of a server that does not have the requested encoding.
func notAcceptable() error {
	return &lw.StatusError{Code: http.StatusNotAcceptable}
}

func isNotAcceptable(err error) bool {
	status, ok := errors.AsType[*lw.StatusError](err)
	return ok && status.Code == http.StatusNotAcceptable
}

// wantsProtobuf reports whether a request of package lw is for protobuf.
func wantsProtobuf(accept string) bool { return strings.HasPrefix(accept, runtime.ContentTypeProtobuf) }

// allowsProtobuf reports whether an Accept header of client-go allows protobuf.
func allowsProtobuf(accept string) bool {
	return accept == "" || strings.Contains(accept, runtime.ContentTypeProtobuf) || strings.Contains(accept, "*/*")
}

// requireProtobuf turns a JSON response to a request for protobuf into an error response, because some servers ignore Accept.
// A response without a Content-Type counts as JSON.
func requireProtobuf(request *http.Request, response *http.Response) error {
	if !wantsProtobuf(request.Header.Get("Accept")) || response.StatusCode != http.StatusOK {
		return nil
	}
	if has := response.Header.Get("Content-Type"); has != "" && !strings.HasPrefix(has, runtime.ContentTypeJSON) {
		return nil
	}
	err := response.Body.Close()
	response.StatusCode, response.Status, response.Body = http.StatusNotAcceptable, "406 Not Acceptable", http.NoBody
	return err
}
