package catalog

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/seed-6d2a410a/listwatch/lw"
)

type counter struct{ requests int }

func (c *counter) Open(context.Context, *lw.Request) (*lw.Response, error) {
	c.requests++
	return nil, errors.New("unexpected request")
}

func TestNoAccessCheckAfterWaitFailed(t *testing.T) {
	var transport counter
	c := New(&transport, nil)
	c.checks = rate.NewLimiter(rate.Every(time.Hour), 1)
	require.True(t, c.checks.Allow())
	coding, err := newCodec(&Settings{})
	require.NoError(t, err)
	client, err := lw.NewClient(&transport, lw.Pods(""), lw.Codec[Packed](coding), nil)
	require.NoError(t, err)
	names, err := c.names(t.Context(), client, 1)
	require.Error(t, err) // the wait would exceed the deadline
	require.Empty(t, names)
	require.Zero(t, transport.requests)
}
