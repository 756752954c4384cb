package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func TestResourceVersionsOfEarlierRunsHaveExpired(t *testing.T) {
	server, err := startServer()
	require.NoError(t, err)
	defer server.Close()
	for range 10 {
		_, err := server.Put("pods", `{"metadata":{"name":"a"}}`)
		require.NoError(t, err)
	}
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	pods, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)
	for event := range lw.Resume(context.Background(), pods, lw.Held{ResourceVersion: "5"}, nil) {
		if event.Interruption != nil {
			require.ErrorIs(t, event.Interruption.Err, lw.ErrExpired)
			break
		}
		require.Equal(t, lw.WatchStarted, event.Type)
	}
}

// NotifyContext cancels the context with a cause that names the signal.
func TestInterruptBeforeLwcatStartsIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	require.NoError(t, printPods(ctx, "http://localhost", ""))
}
