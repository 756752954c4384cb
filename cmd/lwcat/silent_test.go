package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// silent is a server that takes requests, and never answers.
type silent struct{}

func (silent) Open(ctx context.Context, _ *lw.Request) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// TestASilentServerIsNotAskedForever what it has.
func TestASilentServerIsNotAskedForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := (&source{over: silent{}, namespace: "default"}).resources(t.Context(), &config{what: what{names: []string{"pods"}}}, &status{out: io.Discard})
		require.ErrorIs(t, err, lw.ErrSilent)
		require.Equal(t, discoveryTime, time.Since(began))
	})
}

// busy is a server that has no time, so often, and then says what it has.
type busy struct{ times atomic.Int64 }

func (b *busy) Open(_ context.Context, req *lw.Request) (io.ReadCloser, error) {
	if b.times.Add(-1) >= 0 {
		return nil, &lw.StatusError{Status: lw.Status{Code: http.StatusServiceUnavailable}, RetryAfter: 7 * time.Second}
	}
	if req.Path == "/api" {
		return nil, &lw.StatusError{Status: lw.Status{Code: http.StatusNotFound}}
	}
	return io.NopCloser(strings.NewReader(`{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":""},"versions":[{"version":"v1","resources":[{"resource":"pods","scope":"Namespaced","verbs":["list","watch"]}]}]}]}`)), nil
}

// TestABusyServerIsAskedAgain what it has, after the time that it asks for.
func TestABusyServerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, server := time.Now(), &busy{}
		server.times.Store(4) // of two requests each
		var errs written
		found, err := (&source{over: server, namespace: "default"}).resources(t.Context(), &config{what: what{names: []string{"pods"}}}, &status{out: &errs})
		require.NoError(t, err)
		require.Equal(t, []lw.Resource{lw.Pods("default")}, found)
		require.Equal(t, 14*time.Second, time.Since(began), errs.String())
		require.Equal(t, 2, strings.Count(errs.String(), "the server answered 503; asking again in 7s"), errs.String())
	})
}

// TestAVersionThatIsRefusedIsNotReplacedByAList, which nobody has asked for: with --from one refusal is enough.
func TestAVersionThatIsRefusedIsNotReplacedByAList(t *testing.T) {
	refusal := &lw.StatusError{Status: lw.Status{Code: http.StatusBadRequest}}
	from := &stream{config: &config{when: when{from: "abc"}}}
	require.True(t, from.hopeless(refusal))
	list := &stream{config: &config{}}
	require.False(t, list.hopeless(refusal), "it may be of a streaming list, which not every server knows")
	require.True(t, list.hopeless(refusal))
}

// half is a server of which one half does not answer.
type half struct{ busy }

func (h *half) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	if req.Path == "/api" {
		return silent{}.Open(ctx, req)
	}
	return h.busy.Open(ctx, req)
}

// TestTimeIsOverWhileHalfIsKnown: that ends it, and not that a resource is missing from the other half.
func TestTimeIsOverWhileHalfIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := (&when{timeout: time.Second}).deadline(t.Context())
		defer stop()
		var errs written
		_, err := (&source{over: &half{}}).resources(ctx, &config{what: what{names: []string{"nodes"}}}, &status{out: &errs})
		require.Equal(t, errTimeout, err)
		require.Empty(t, errs.String())
	})
}
