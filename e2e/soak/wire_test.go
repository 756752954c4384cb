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

// wire wraps a transport and modifies its requests and responses.
type wire struct {
	lw.Transport
	edit        func(url.Values) // changes the query parameters of a request; may be nil
	idleTimeout time.Duration    // idle timeout for responses; if zero, only lw's longer idle timeout applies
	cut         func() int       // returns the length after which a response ends cleanly, or a negative number for no limit; may be nil
}

// Open implements lw.Transport.
func (w *wire) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	query, err := url.ParseQuery(req.Query)
	if err != nil {
		return nil, err
	}
	if w.edit != nil {
		w.edit(query)
	}
	changed := *req
	changed.Query = query.Encode()
	ctx, cancel := context.WithCancelCause(ctx)
	body, err := w.Transport.Open(ctx, &changed)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	b := &wireBody{ReadCloser: body, wire: w, cancel: cancel, left: -1}
	if w.idleTimeout > 0 {
		// lw cancels a request with the same error when lw's own idle timeout expires.
		b.timer = time.AfterFunc(w.idleTimeout, func() { cancel(lw.ErrSilent) })
	}
	if w.cut != nil {
		b.left = w.cut()
	}
	return &lw.Response{ReadCloser: b}, nil
}

type wireBody struct {
	io.ReadCloser
	wire   *wire
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without an idle timeout
	left   int         // bytes until the response ends; negative means no limit
}

func (b *wireBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.left > 0 {
		p = p[:min(len(p), b.left)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left > 0 {
		b.left -= n
	}
	if b.timer != nil && err == nil {
		b.timer.Reset(b.wire.idleTimeout)
	}
	return n, err
}

func (b *wireBody) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// answer is a transport that responds with text. If text is empty, the response stays open without data until ctx is
// done.
type answer struct {
	text string
	req  *lw.Request
}

func (a *answer) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	a.req = req
	if a.text != "" {
		return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(a.text))}, nil
	}
	silent, never := io.Pipe()
	context.AfterFunc(ctx, func() { never.CloseWithError(context.Cause(ctx)) })
	return &lw.Response{ReadCloser: silent}, nil
}

func TestWireTruncatesResponses(t *testing.T) {
	body, err := (&wire{Transport: &answer{text: "0123456789"}, cut: func() int { return 4 }}).Open(t.Context(), &lw.Request{})
	require.NoError(t, err)
	defer body.Close()
	got, err := io.ReadAll(body)
	require.NoError(t, err, "reading a truncated response must end with EOF")
	require.Equal(t, "0123", string(got))
}

func TestWireTimesOut(t *testing.T) {
	body, err := (&wire{Transport: &answer{}, idleTimeout: time.Millisecond}).Open(t.Context(), &lw.Request{})
	require.NoError(t, err)
	defer body.Close()
	_, err = io.ReadAll(body)
	require.ErrorIs(t, err, lw.ErrSilent)
}

func TestWireEditsQueries(t *testing.T) {
	a := &answer{text: "x"}
	body, err := (&wire{Transport: a, edit: func(query url.Values) { query.Set("limit", "7") }}).Open(t.Context(), &lw.Request{Query: "watch=1"})
	require.NoError(t, err)
	require.Equal(t, "limit=7&watch=1", a.req.Query)
	require.NoError(t, body.Close())
}

func TestExpectedFailuresHaveACause(t *testing.T) {
	_, truncated := lw.ParseValue([]byte("["))
	for want, err := range map[string]error{
		expired:  &lw.StatusError{Code: 410},
		cutShort: truncated,
		ended:    io.ErrUnexpectedEOF,
		"503":    &lw.StatusError{Code: 503},
	} {
		name, wrong := causeOf(err)
		require.NoError(t, wrong)
		require.Equal(t, want, name)
	}
	for _, err := range []error{lw.ErrInvalidResponse, &lw.DecodeError{Err: io.EOF}, lw.ErrInconsistent, &lw.StatusError{Code: 401}} {
		_, wrong := causeOf(err)
		require.Error(t, wrong, "%v", err)
	}
}
