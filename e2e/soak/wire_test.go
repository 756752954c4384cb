package soak

import (
	"context"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// answer is a transport whose only response is a text; without one, it never says anything.
type answer struct {
	text string
	req  *lw.Request
}

func (a *answer) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	a.req = req
	if a.text != "" {
		return io.NopCloser(strings.NewReader(a.text)), nil
	}
	silent, never := io.Pipe()
	context.AfterFunc(ctx, func() { never.CloseWithError(context.Cause(ctx)) })
	return silent, nil
}

func TestWireCuts(t *testing.T) {
	body, err := (&wire{Transport: &answer{text: "0123456789"}, cut: func() int { return 4 }}).Open(t.Context(), &lw.Request{})
	require.NoError(t, err)
	defer body.Close()
	got, err := io.ReadAll(body)
	require.NoError(t, err, "a cut looks like a good end")
	require.Equal(t, "0123", string(got))
}

func TestWireLosesPatience(t *testing.T) {
	body, err := (&wire{Transport: &answer{}, patience: time.Millisecond}).Open(t.Context(), &lw.Request{})
	require.NoError(t, err)
	defer body.Close()
	_, err = io.ReadAll(body)
	require.ErrorIs(t, err, lw.ErrSilent)
}

func TestWireEdits(t *testing.T) {
	a := &answer{text: "x"}
	body, err := (&wire{Transport: a, edit: func(query url.Values) { query.Set("limit", "7") }}).Open(t.Context(), &lw.Request{Query: "watch=1"})
	require.NoError(t, err)
	require.Equal(t, "limit=7&watch=1", a.req.Query)
	require.NoError(t, body.Close())
}

// TestCauses: what faults lead to has a name, and what nothing here can lead to is an error.
func TestCauses(t *testing.T) {
	for want, err := range map[string]error{
		expired:  &lw.StatusError{Status: lw.Status{Code: 410}},
		cutShort: &lw.MalformedError{Err: io.ErrUnexpectedEOF},
		ended:    io.ErrUnexpectedEOF,
		"503":    &lw.StatusError{Status: lw.Status{Code: 503}},
	} {
		name, wrong := causeOf(err)
		require.NoError(t, wrong)
		require.Equal(t, want, name)
	}
	for _, err := range []error{&lw.MalformedError{}, &lw.DecodeError{Err: io.EOF}, lw.ErrVersionRegressed, &lw.StatusError{Status: lw.Status{Code: 401}}} {
		_, wrong := causeOf(err)
		require.Error(t, wrong, "%v", err)
	}
}
