package main

import (
	"context"
	"io"
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
