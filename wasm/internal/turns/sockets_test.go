package turns

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

var errRefused error = &unsupported{"the server rejected the WebSocket"}

func TestDelaysRetryAfterRejectedWebSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{delay: time.Second, err: errRefused}}}
		known := NewSupport()
		done := make(chan error)
		for range 10 { // several transports share a Support
			go func() {
				_, err := (&Sockets{WebSocket: far, Support: known}).Open(t.Context(), watchRequest)
				done <- err
			}()
		}
		for range 10 {
			require.Equal(t, errRefused, <-done)
		}
		require.Len(t, far.queries, 1)
		for handshakes, wait := range []time.Duration{1: 2*time.Minute - 1, 2: 1} {
			time.Sleep(wait)
			_, err := (&Sockets{WebSocket: far, Support: known}).Open(t.Context(), watchRequest)
			require.Equal(t, errRefused, err)
			require.Len(t, far.queries, max(1, handshakes))
		}
	})
}

func TestRetriesAtOnceAfterAcceptedWebSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{}, {err: errRefused}, {}}}
		s := &Sockets{WebSocket: far, Support: NewSupport()}
		for _, expected := range []error{nil, errRefused, nil} {
			_, err := s.Open(t.Context(), watchRequest)
			require.Equal(t, expected, err)
		}
	})
}

func TestRetriesAtOnceAfterOtherFailure(t *testing.T) {
	far := &server{replies: []reply{{err: errGone}, {}}}
	s := &Sockets{WebSocket: far, Support: NewSupport()}
	_, err := s.Open(t.Context(), watchRequest)
	require.Equal(t, errGone, err)
	_, err = s.Open(t.Context(), watchRequest)
	require.NoError(t, err)
}

func TestUnansweredHandshakeCountsAsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{delay: time.Hour}}}
		s := &Sockets{WebSocket: far, Support: NewSupport()}
		began := time.Now()
		for range 3 {
			_, err := s.Open(t.Context(), watchRequest)
			require.Equal(t, errNoAnswer, err)
		}
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestWebSocketOutlivesItsHandshakeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{open: time.Hour}}}
		body, err := (&Sockets{WebSocket: far, Support: NewSupport()}).Open(t.Context(), watchRequest)
		require.NoError(t, err)
		began := time.Now()
		_, err = body.Read(make([]byte, 1))
		require.Error(t, err)
		require.Equal(t, time.Hour, time.Since(began))
	})
}

func TestContextEndsWaitForConcurrentHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{delay: time.Hour}}}
		s := &Sockets{WebSocket: far, Support: NewSupport()}
		go func() { _, _ = s.Open(t.Context(), watchRequest) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
		defer cancel()
		_, err := s.Open(ctx, watchRequest)
		require.Equal(t, errGone, err)
		time.Sleep(answer) // until the other handshake times out
	})
}

func TestListsNeedNoHandshake(t *testing.T) {
	far := &server{replies: []reply{{text: "{}"}}}
	_, err := (&Sockets{WebSocket: far, Support: &Support{}}).Open(t.Context(), listRequest)
	require.NoError(t, err)
	require.Equal(t, []string{listRequest.Query}, far.queries)
}

var _ lw.Transport = (*Sockets)(nil)
