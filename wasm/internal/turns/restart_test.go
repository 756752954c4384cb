//go:build !js

package turns_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/hostile"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/wasm/internal/turns"
)

// restarting is a server that can be down. It counts the open watches.
type restarting struct {
	*hostile.Server
	down       atomic.Pointer[context.Context] // done while the server is down
	open, most atomic.Int32
}

var errDown = errors.New("connection refused")

// restart takes the server down for the given time. It breaks all responses.
func (r *restarting) restart(stop context.CancelCauseFunc, downtime time.Duration) (next context.CancelCauseFunc) {
	stop(errDown)
	time.Sleep(downtime)
	ctx, next := context.WithCancelCause(context.Background())
	r.down.Store(&ctx)
	return next
}

func (r *restarting) RoundTrip(request *http.Request) (*http.Response, error) {
	down := *r.down.Load()
	if down.Err() != nil {
		return nil, errDown
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	stop := context.AfterFunc(down, func() { cancel(errDown) })
	response, err := r.Server.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if request.URL.Query().Has("watch") {
		if n := r.open.Add(1); n > r.most.Load() {
			r.most.Store(n)
		}
		response.Body = &counted{response.Body, func() { r.open.Add(-1); stop() }}
	}
	return response, nil
}

type counted struct {
	io.ReadCloser
	end func()
}

func (c *counted) Close() error {
	c.end()
	return c.ReadCloser.Close()
}

// Three collections share one slot over HTTP/1.1, and the server restarts repeatedly. All caches must catch up, and the
// slot must be free when all watches have ended.
func TestWatchesThatTakeTurnsSurviveRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		correct := hostile.All()[0]
		correct.Lists = true // a streaming list would be a watch
		server := &restarting{Server: correct.Start()}
		down, stop := context.WithCancelCause(t.Context())
		defer func() { stop(nil) }()
		server.down.Store(&down)
		base, err := lwhttp.New("http://api.test", &lwhttp.Options{Client: &http.Client{Transport: server}})
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(t.Context())
		slot := make(chan struct{}, 1)
		slot <- struct{}{}
		take := func(ctx context.Context, wait bool) (*turns.Slot, error) { return takeSlot(ctx, slot, wait) }
		var caches []*cache.Informer[*lw.Object]
		for range 3 {
			client, err := lw.NewClient(&turns.Transport{HTTP: base, Take: take, Waits: func() {}}, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: "shop"}, lw.RawCodec{}, nil)
			require.NoError(t, err)
			informer := cache.NewInformer(client, &lw.Options{Warn: slog.New(slog.DiscardHandler).Warn})
			caches = append(caches, informer)
			go func() {
				for range informer.Follow(ctx) {
				}
			}()
		}
		for downtime := range 10 {
			time.Sleep(17*time.Second + time.Duration(downtime)*time.Second)
			server.Step()
			stop = server.restart(stop, time.Duration(downtime)*time.Second)
		}
		time.Sleep(3 * time.Minute)
		for _, informer := range caches {
			values := map[string]string{}
			for _, object := range informer.Store().List() {
				values[lw.KeyOf(object).Name] = object.Get("data.v").String()
			}
			require.Equal(t, server.Values(), values)
		}
		cancel()
		synctest.Wait()
		require.Len(t, slot, 1, "the slot must be free when all watches have ended")
		require.Zero(t, server.open.Load())
		require.EqualValues(t, 1, server.most.Load())
	})
}

// takeSlot implements the Take field of a Transport. A watch must return the slot after five seconds.
func takeSlot(ctx context.Context, slot chan struct{}, wait bool) (*turns.Slot, error) {
	select {
	case <-slot:
	default:
		if !wait {
			return nil, turns.ErrBusy
		}
		select {
		case <-slot:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	released := make(chan struct{})
	over := func() bool {
		select {
		case <-time.After(5 * time.Second):
			return true
		case <-released:
			return false
		}
	}
	release := func() {
		close(released) // panics if the slot was released before
		select {
		case slot <- struct{}{}:
		default:
			panic("the slot was released twice")
		}
	}
	return &turns.Slot{Over: over, Release: release}, nil
}
