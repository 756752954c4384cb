package turns

import (
	"context"
	"errors"
	"io"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

var errGone = errors.New("the server is gone")

// reply is a response that arrives after a delay.
type reply struct {
	delay time.Duration
	text  string
	open  time.Duration // time until the response ends; if zero, it ends when the client cancels the request
	err   error
}

// server responds to requests and counts the open responses.
type server struct {
	replies    []reply
	queries    []string
	open, most int
}

func (s *server) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	r := s.replies[min(len(s.queries), len(s.replies)-1)]
	s.queries = append(s.queries, req.Query)
	s.open++
	s.most = max(s.most, s.open)
	select {
	case <-ctx.Done():
		s.open--
		return nil, context.Cause(ctx)
	case <-time.After(r.delay):
	}
	if r.err != nil {
		s.open--
		return nil, r.err
	}
	return &lw.Response{ReadCloser: &response{server: s, ctx: ctx, reply: r}}, nil
}

type response struct {
	server *server
	ctx    context.Context
	reply
}

func (r *response) Read(p []byte) (int, error) {
	if r.text != "" {
		n := copy(p, r.text)
		r.text = r.text[n:]
		return n, nil
	}
	var end <-chan time.Time
	if r.reply.open > 0 {
		end = time.After(r.reply.open)
	}
	select {
	case <-end:
		return 0, io.EOF
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}

func (r *response) Close() error {
	r.server.open--
	return nil
}

// slots provides the method take, which tests use as Transport.Take. If over is not zero, a watch must return its slot
// after this time.
type slots struct {
	free  chan struct{}
	over  time.Duration
	asked []bool // values of wait in all calls of take
}

func newSlots(n int, over time.Duration) *slots {
	s := &slots{free: make(chan struct{}, 1), over: over} // tests use at most one slot
	for range n {
		s.free <- struct{}{}
	}
	return s
}

func (s *slots) take(ctx context.Context, wait bool) (*Slot, error) {
	s.asked = append(s.asked, wait)
	if !wait {
		select {
		case <-s.free:
		default:
			return nil, ErrBusy
		}
	} else {
		select {
		case <-s.free:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	released := make(chan struct{})
	slot := &Slot{Release: func() {
		close(released)
		s.free <- struct{}{}
	}}
	if s.over > 0 {
		slot.Over = func() bool {
			select {
			case <-time.After(s.over):
				return true
			case <-released:
				return false
			}
		}
	}
	return slot, nil
}

var (
	watchRequest = &lw.Request{Path: "/api/v1/pods", Query: "watch=1&resourceVersion=7&timeoutSeconds=83", Watch: true}
	listRequest  = &lw.Request{Path: "/api/v1/pods", Query: "limit=500"}
)

func TestListNeedsNoSlot(t *testing.T) {
	s := newSlots(0, 0)
	transport := &Transport{HTTP: &server{replies: []reply{{text: "{}"}}}, Take: s.take, Waits: func() {}}
	body, err := transport.Open(t.Context(), listRequest)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Empty(t, s.asked)
}

func TestWatchReleasesItsSlot(t *testing.T) {
	s := newSlots(1, 0)
	transport := &Transport{HTTP: &server{replies: []reply{{text: "x\n"}, {err: errGone}}}, Take: s.take, Waits: func() {}}
	body, err := transport.Open(t.Context(), watchRequest)
	require.NoError(t, err)
	require.Empty(t, s.free)
	require.NoError(t, body.Close())
	require.Len(t, s.free, 1)
	_, err = transport.Open(t.Context(), watchRequest)
	require.Equal(t, errGone, err)
	require.Len(t, s.free, 1)
}

func TestWatchWithoutSlotFailsUnlessItCanWait(t *testing.T) {
	transport := &Transport{HTTP: &server{replies: []reply{{}}}, Take: newSlots(0, 0).take}
	_, err := transport.Open(t.Context(), watchRequest)
	require.Equal(t, ErrBusy, err)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestWaitingWatchRequestsShortTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, far, waits := newSlots(0, 0), &server{replies: []reply{{text: "x\n"}}}, 0
		transport := &Transport{HTTP: far, Take: s.take, Waits: func() { waits++ }}
		go func() {
			time.Sleep(time.Second)
			s.free <- struct{}{}
		}()
		body, err := transport.Open(t.Context(), watchRequest)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		query, err := url.ParseQuery(far.queries[0])
		require.NoError(t, err)
		require.Equal(t, []string{"2"}, query["timeoutSeconds"])
		require.Equal(t, "7", query.Get("resourceVersion"))
		require.Equal(t, []bool{false, true}, s.asked)
		require.Equal(t, 1, waits)
	})
}

// A raw path can contain timeoutSeconds, too.
func TestWaitingWatchKeepsRawQuery(t *testing.T) {
	s, far := newSlots(0, 0), &server{replies: []reply{{text: "x\n"}}}
	transport := &Transport{HTTP: far, Take: s.take, Waits: func() { s.free <- struct{}{} }}
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/things", Query: "a=1&timeoutSeconds=9&watch=1&timeoutSeconds=83", Watch: true})
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Equal(t, []string{"a=1&timeoutSeconds=9&watch=1&timeoutSeconds=2"}, far.queries)
}

func TestEndOfTurnClosesWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 5*time.Second)
		transport := &Transport{HTTP: &server{replies: []reply{{text: "x\n"}}}, Take: s.take, Waits: func() {}}
		body, err := transport.Open(t.Context(), watchRequest)
		require.NoError(t, err)
		_, err = io.ReadAll(body)
		require.Equal(t, lw.ErrWatchClosed, err)
		require.NoError(t, body.Close())
		require.Len(t, s.free, 1)
	})
}

// Firefox does not report a response before its first byte. A watch without events therefore looks unanswered.
func TestStartsAnotherTurnWithoutResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{delay: time.Hour}, {text: "x\n"}}}
		transport := &Transport{HTTP: far, Take: newSlots(1, 5*time.Second).take, Waits: func() {}}
		body, err := transport.Open(t.Context(), watchRequest)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		require.Len(t, far.queries, 2)
	})
}

// crowded returns a watch that takes turns with another watch. The turns of the other watch last one second. waits
// counts the calls of Waits.
func crowded(t *testing.T, far *server) (body io.ReadCloser, waits *int) {
	s := newSlots(1, 0)
	<-s.free
	go func() {
		for {
			select {
			case <-time.After(time.Second):
			case <-t.Context().Done():
				return
			}
			s.free <- struct{}{}
			synctest.Wait() // if the watch was waiting, it has now taken the slot
			select {
			case <-s.free:
			case <-t.Context().Done():
				return
			}
		}
	}()
	waits = new(int)
	body, err := (&Transport{HTTP: far, Take: s.take, Waits: func() { *waits++ }}).Open(t.Context(), watchRequest)
	require.NoError(t, err)
	return body, waits
}

func TestWatchWithoutEventsSpansTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{open: 2 * time.Second}}}
		body, waits := crowded(t, far)
		began := time.Now()
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Empty(t, text)
		require.NoError(t, body.Close())
		require.InDelta(t, 40*time.Second, time.Since(began), float64(3*time.Second))
		require.Greater(t, len(far.queries), 5)
		require.Equal(t, 1, *waits)
		require.Equal(t, 1, far.most)
		require.Zero(t, far.open)
	})
}

func TestTurnWithEventsEndsWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{open: 2 * time.Second}, {text: "news\n", open: 2 * time.Second}}}
		body, _ := crowded(t, far)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Equal(t, "news\n", string(text))
		require.Len(t, far.queries, 2, "a watch that delivered an event must end instead of resuming from the old resourceVersion")
	})
}

// A short watch can mean that the resourceVersion has expired. Only the stream can handle this, so the watch must end
// instead of starting another turn.
func TestEarlyEndOfTurnEndsWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{open: 100 * time.Millisecond}}}
		body, _ := crowded(t, far)
		_, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Len(t, far.queries, 1)
	})
}

func TestReportsFailureBetweenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &server{replies: []reply{{open: 2 * time.Second}, {err: errGone}}}
		body, _ := crowded(t, far)
		_, err := io.ReadAll(body)
		require.Equal(t, errGone, err)
	})
}

func TestContextEndsWaitForSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errGone) })
		_, err := (&Transport{HTTP: &server{}, Take: newSlots(0, 0).take, Waits: func() {}}).Open(ctx, watchRequest)
		require.Equal(t, errGone, err)
	})
}

func TestFirstTransportNeedsNoSlot(t *testing.T) {
	s := newSlots(1, 0)
	first := &server{replies: []reply{{text: "first\n"}, {err: errGone}, {err: ErrBusy}}}
	transport := &Transport{HTTP: &server{replies: []reply{{text: "second\n"}}}, First: first, Take: s.take, Waits: func() {}}
	body, err := transport.Open(t.Context(), watchRequest)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Empty(t, s.asked)
	_, err = transport.Open(t.Context(), watchRequest)
	require.Equal(t, errGone, err)
	require.Empty(t, s.asked)
	body, err = transport.Open(t.Context(), watchRequest)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Len(t, s.asked, 1)
}
