package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// silentTransport never answers a request.
type silentTransport struct{}

func (silentTransport) Open(ctx context.Context, _ *lw.Request) (*lw.Response, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestDiscoveryTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := (&connection{Config: &kubeconfig.Config{Namespace: "default"}, transport: silentTransport{}}).resolve(t.Context(), &resourceOptions{names: []string{"pods"}}, &status{out: io.Discard})
		require.ErrorIs(t, err, lw.ErrSilent)
		require.Equal(t, discoveryTimeout, time.Since(began))
	})
}

// busyTransport rejects the first requests with status 503 and a Retry-After of 7 seconds.
type busyTransport struct{ rejections atomic.Int64 }

func (b *busyTransport) Open(_ context.Context, req *lw.Request) (*lw.Response, error) {
	if b.rejections.Add(-1) >= 0 {
		return nil, &lw.StatusError{Code: http.StatusServiceUnavailable, RetryAfter: 7 * time.Second}
	}
	if req.Path == "/api" {
		return nil, &lw.StatusError{Code: http.StatusNotFound}
	}
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(`{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":""},"versions":[{"version":"v1","resources":[{"resource":"pods","scope":"Namespaced","verbs":["list","watch"]}]}]}]}`))}, nil
}

// TestDiscoveryRetriesBusyServer checks that discovery waits for Retry-After and then retries.
func TestDiscoveryRetriesBusyServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, server := time.Now(), &busyTransport{}
		server.rejections.Store(4) // two rejections for each discovery attempt
		var errs lockedBuffer
		found, err := (&connection{Config: &kubeconfig.Config{Namespace: "default"}, transport: server}).resolve(t.Context(), &resourceOptions{names: []string{"pods"}}, &status{out: &errs})
		require.NoError(t, err)
		require.Equal(t, []lw.Resource{lw.Pods("default")}, found)
		require.Equal(t, 14*time.Second, time.Since(began), errs.String())
		require.Equal(t, 2, strings.Count(errs.String(), "the server answered 503; retrying in 7s"), errs.String())
	})
}

// absentTransport fails to connect for each request that busyTransport would reject.
type absentTransport struct{ busyTransport }

func (a *absentTransport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	body, err := a.busyTransport.Open(ctx, req)
	if lw.IsPermanent(err) || err == nil {
		return body, err
	}
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

// TestWaitsForServer checks that --wait retries until the server exists.
func TestWaitsForServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, server := time.Now(), &absentTransport{}
		server.rejections.Store(4) // two rejections for each discovery attempt
		var errs lockedBuffer
		c := &config{resources: resourceOptions{names: []string{"pods"}, wait: true}}
		found, err := (&connection{Config: &kubeconfig.Config{Namespace: "default"}, transport: server}).resolve(t.Context(), &c.resources, &status{out: &errs})
		require.NoError(t, err)
		require.Equal(t, []lw.Resource{lw.Pods("default")}, found)
		require.Equal(t, 3*time.Second, time.Since(began), errs.String())
		require.False(t, (&stream{config: c}).isFatal(lw.ErrNotFound))
		require.True(t, (&stream{config: c}).isFatal(lw.ErrForbidden))
	})
}

// TestFromDoesNotFallBackToList checks that lwcat exits if the server rejects the resourceVersion given with
// --from.
func TestFromDoesNotFallBackToList(t *testing.T) {
	rejection := &lw.StatusError{Code: http.StatusBadRequest}
	from := &stream{config: &config{limits: rangeOptions{from: "abc"}}}
	require.True(t, from.isFatal(rejection))
	list := &stream{config: &config{}}
	require.False(t, list.isFatal(rejection), "the first rejection must not be fatal, because the server may reject only streaming lists")
	require.True(t, list.isFatal(rejection))
}

// halfSilentTransport never answers the discovery request for /api.
type halfSilentTransport struct{ busyTransport }

func (h *halfSilentTransport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if req.Path == "/api" {
		return silentTransport{}.Open(ctx, req)
	}
	return h.busyTransport.Open(ctx, req)
}

// TestTimeoutDuringDiscovery checks that lwcat reports the --timeout, and not that a resource is missing.
func TestTimeoutDuringDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeoutCause(t.Context(), time.Second, errTimeout)
		defer stop()
		var errs lockedBuffer
		_, err := (&connection{Config: &kubeconfig.Config{}, transport: &halfSilentTransport{}}).resolve(ctx, &resourceOptions{names: []string{"nodes"}}, &status{out: &errs})
		require.Equal(t, errTimeout, err)
		require.Empty(t, errs.String())
	})
}
