package fallback

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// stub is a fake transport that returns the same response to every request.
type stub struct {
	asked int
	err   error
	text  string
	end   error // error at the end of the body; nil means io.EOF
}

func (s *stub) Open(ctx context.Context, _ *lw.Request) (*lw.Response, error) {
	s.asked++
	if s.err != nil {
		return nil, s.err
	}
	return &lw.Response{ReadCloser: io.NopCloser(io.MultiReader(strings.NewReader(s.text), failing{s.end}))}, nil
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) {
	if f.error == nil {
		return 0, io.EOF
	}
	return 0, f.error
}

// watch opens a watch and reads it to its end. It returns the received text, the error, and the cause of a switch, or
// nil if there was no switch.
func watch(t *testing.T, over lw.Transport) (text string, err error, switched error) {
	t.Helper()
	ctx := lw.WithTrace(t.Context(), &lw.Trace{Switched: func(cause error) { switched = cause }})
	body, err := over.Open(ctx, &lw.Request{Path: "/x", Watch: true})
	if err != nil {
		return "", err, switched
	}
	defer body.Close()
	read, err := io.ReadAll(body)
	return string(read), err, switched
}

func rejection(code int) error { return &lw.StatusError{Code: code} }

func TestPrefersFirstTransport(t *testing.T) {
	first, second := &stub{text: "events"}, &stub{text: "other"}
	over := New(first, second)
	text, err, switched := watch(t, over)
	require.NoError(t, err)
	require.NoError(t, switched)
	require.Equal(t, "events", text)
	first.text, first.end = "", lw.ErrSilent
	for range 3 {
		_, err, switched = watch(t, over)
		require.ErrorIs(t, err, lw.ErrSilent)
		require.NoError(t, switched, "after a transport has delivered data, a watch without data must not cause a switch")
	}
	require.Zero(t, second.asked)
}

func TestRejectedWatchSwitches(t *testing.T) {
	handshake := errors.Join(rejection(403), errors.ErrUnsupported)
	for _, err := range []error{errors.ErrUnsupported, handshake, rejection(400), rejection(405), rejection(426), rejection(501), rejection(502)} {
		first, second := &stub{err: err}, &stub{text: "events"}
		over := New(first, second)
		text, failed, switched := watch(t, over)
		require.NoError(t, failed)
		require.Equal(t, err, switched)
		require.Equal(t, "events", text)
		_, _, switched = watch(t, over)
		require.NoError(t, switched)
		require.Equal(t, []int{1, 2}, []int{first.asked, second.asked}, "later watches must use the second transport")
	}
}

func TestServerErrorsDoNotSwitch(t *testing.T) {
	for _, err := range []error{rejection(401), rejection(403), rejection(404), rejection(410), rejection(429), rejection(500), rejection(503), errors.New("connection refused")} {
		first, second := &stub{err: err}, &stub{text: "events"}
		_, failed, switched := watch(t, New(first, second))
		require.Equal(t, err, failed)
		require.NoError(t, switched)
		require.Zero(t, second.asked)
	}
	first, second := &stub{err: rejection(400)}, &stub{err: rejection(404)}
	_, failed, switched := watch(t, New(first, second))
	require.Equal(t, first.err, failed)
	require.NoError(t, switched)
}

// Behind a proxy that buffers responses, a watch delivers no data, so the client must switch to the second transport.
// If that transport delivers no data either, the client must switch back.
func TestSilentWatchSwitches(t *testing.T) {
	first, second := &stub{end: lw.ErrSilent}, &stub{end: lw.ErrSilent}
	over := New(first, second)
	for range 2 {
		_, err, switched := watch(t, over)
		require.ErrorIs(t, err, lw.ErrSilent)
		require.ErrorIs(t, switched, lw.ErrSilent)
	}
	require.Equal(t, []int{1, 1}, []int{first.asked, second.asked})
	_, _, _ = watch(t, over)
	second.text, second.end = "events", nil
	text, _, _ := watch(t, over)
	require.Equal(t, "events", text)
	second.text, second.end = "", lw.ErrSilent
	_, _, switched := watch(t, over)
	require.NoError(t, switched, "after a transport has delivered data, a watch without data must not cause a switch")
}

// The first transport has delivered data and then fails. The second transport opens the watch but delivers no data, so
// the client must not switch.
func TestNoSwitchWithoutData(t *testing.T) {
	first, second := &stub{text: "events"}, &stub{}
	over := New(first, second)
	_, _, _ = watch(t, over)
	first.err = rejection(502)
	_, err, switched := watch(t, over)
	require.NoError(t, err)
	require.NoError(t, switched)
	first.err = nil
	text, _, _ := watch(t, over)
	require.Equal(t, "events", text)
	require.Equal(t, 1, second.asked)
}

// slow is a stub that delays its responses to watches.
type slow struct {
	stub
	after time.Duration
}

func (s *slow) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	select {
	case <-time.After(s.after):
		return s.stub.Open(ctx, req)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// If a watch gets no response over the current transport, the watch must use the other transport. Later watches must do
// the same only if the current transport has never delivered data.
func TestUnansweredWatchUsesOtherTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &slow{after: time.Hour}, &slow{stub: stub{text: "events"}}
		over := New(first, second)
		for _, waits := range []time.Duration{3 * time.Second, 0} {
			begin := time.Now()
			text, err, switched := watch(t, over)
			require.NoError(t, err)
			require.Equal(t, "events", text)
			require.Equal(t, waits, time.Since(begin))
			require.Equal(t, waits > 0, switched == lw.ErrSilent)
		}

		first.after, first.text = 0, "events"
		over = New(first, second)
		_, _, _ = watch(t, over)
		first.after = time.Hour
		for range 2 {
			begin := time.Now()
			_, err, switched := watch(t, over)
			require.NoError(t, err)
			require.NoError(t, switched)
			require.Equal(t, 3*time.Second, time.Since(begin))
		}
	})
}

// If one attempt opens the watch and the other fails, the successful attempt must win. An error response from the
// server, such as 401, must end the race at once.
func TestFirstResponseWins(t *testing.T) {
	wrong := rejection(502)
	for _, c := range []struct {
		first, second slow
		text          string
		err, switched error
		within        time.Duration
	}{
		{slow{stub{text: "first"}, 2 * time.Second}, slow{}, "first", nil, nil, 2 * time.Second},
		{slow{stub{text: "first"}, 4 * time.Second}, slow{stub{text: "second"}, 2 * time.Second}, "first", nil, nil, 4 * time.Second},
		{slow{stub{text: "first"}, 6 * time.Second}, slow{stub{text: "second"}, 2 * time.Second}, "second", nil, lw.ErrSilent, 5 * time.Second},
		{slow{stub{text: "first"}, 6 * time.Second}, slow{stub{err: wrong}, time.Second}, "first", nil, nil, 6 * time.Second},
		{slow{stub{err: wrong}, 4 * time.Second}, slow{stub{text: "second"}, 2 * time.Second}, "second", nil, wrong, 5 * time.Second},
		{slow{stub{err: wrong}, 5 * time.Second}, slow{stub{err: rejection(404)}, time.Second}, "", wrong, nil, 5 * time.Second},
		{slow{stub{err: wrong}, 4 * time.Second}, slow{stub{err: rejection(404)}, 3 * time.Second}, "", wrong, nil, 6 * time.Second},
		{slow{stub{err: rejection(401)}, 4 * time.Second}, slow{stub{text: "second"}, 2 * time.Second}, "", rejection(401), nil, 4 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			text, err, switched := watch(t, New(&c.first, &c.second))
			require.Equal(t, c.err, err)
			require.Equal(t, c.text, text)
			require.Equal(t, c.switched, switched)
			require.Equal(t, c.within, time.Since(begin))
			synctest.Wait()
			require.LessOrEqual(t, c.first.asked, 1)
		})
	}
}

func TestTransportsShareChoice(t *testing.T) {
	ann := New(&stub{err: rejection(501)}, &stub{text: "events"})
	first, second := &stub{text: "first"}, &stub{text: "second"}
	bob := ann.With(first, second)
	_, _, switched := watch(t, ann)
	require.Error(t, switched)
	text, _, _ := watch(t, bob)
	require.Equal(t, "second", text)
	require.Zero(t, first.asked)
}

func TestEndedContextDoesNotSwitch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	first, second := &stub{err: rejection(403)}, &stub{text: "events"}
	_, err := New(first, second).Open(ctx, &lw.Request{Watch: true})
	require.Error(t, err)
	require.Zero(t, second.asked)
}
