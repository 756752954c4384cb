package lw

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// hostileFrame is the client's limit for one event or item in bytes. hostileBytes is the size of a hostile response
// body in bytes. It is much larger than hostileFrame, so that a client that buffers the body uses noticeably more
// memory.
const (
	hostileFrame = 1 << 20
	hostileBytes = 24 << 20
)

// hostileServer is a transport that creates a hostile body for each request.
type hostileServer struct {
	list, watch func(count int) io.ReadCloser
	lists       int
	watches     int
}

func (h *hostileServer) Open(ctx context.Context, req *Request) (*Response, error) {
	body := h.list
	count := &h.lists
	if req.Watch {
		body, count = h.watch, &h.watches
	}
	*count++
	if body == nil {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return &Response{ReadCloser: &scriptBodyOf{ctx, body(*count)}}, nil
}

// scriptBodyOf is a response body whose reads fail when ctx is done.
type scriptBodyOf struct {
	ctx context.Context
	io.ReadCloser
}

func (b *scriptBodyOf) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.ReadCloser.Read(p)
}

func tooLargeAt(offset int64) error { return jsonscan.TooLarge(offset, hostileFrame) }

const (
	hostileEvent = `{"type":"ADDED","object":{"metadata":{"name":"a"},`
	hostileList  = `{"kind":"PodList","metadata":{"resourceVersion":"5"},`
	hostileItem  = `{"metadata":{"name":"a","resourceVersion":"1"}}`
)

// The stream must use at most three times hostileFrame of memory, however large the response body is.
func TestHostileBodies(t *testing.T) {
	for name, c := range map[string]struct {
		list        bool
		first, then string
		slow        bool // whether to sleep for a second before each read
		want        error
	}{
		"watch: endless string value":                           {first: hostileEvent + `"a":"`, then: "x", want: tooLargeAt(0)},
		"watch: endless number":                                 {first: hostileEvent + `"a":`, then: "1", want: tooLargeAt(0)},
		"watch: endless object members":                         {first: hostileEvent, then: `"a":1,`, want: tooLargeAt(0)},
		"watch: endless object members, half of them projected": {first: hostileEvent, then: `"a":1,"spec":2,`, want: tooLargeAt(0)},
		"watch: endless array elements":                         {first: hostileEvent + `"spec":[`, then: `{},`, want: tooLargeAt(0)},
		"watch: endless managedFields":                          {first: `{"type":"ADDED","object":{"metadata":{`, then: `"managedFields":[],"a":0,`, want: tooLargeAt(0)},
		"watch: endless object name":                            {first: `{"type":"ADDED","object":{"metadata":{"name":"`, then: "x", want: tooLargeAt(0)},
		"watch: endless event type":                             {first: `{"type":"`, then: "x", want: tooLargeAt(0)},
		"watch: endless unknown event members":                  {first: `{`, then: `"x":[{}],`, want: tooLargeAt(0)},
		"watch: endless escape sequences":                       {first: hostileEvent + `"a":"`, then: `\u0041`, want: tooLargeAt(0)},
		"watch: endless white space within an event":            {first: `{"type"`, then: " ", want: tooLargeAt(0)},
		"watch: endless white space between events":             {then: "\n", slow: true, want: ErrSilent},
		"watch: endless nesting":                                {first: hostileEvent + `"a":`, then: "[", want: &jsonscan.SyntaxError{Offset: 1052, Expected: "at most 1000 levels of nesting", Found: "1001"}},
		"watch: endless Status":                                 {first: `{"type":"ERROR","object":{"kind":"Status","message":"`, then: "x", want: tooLargeAt(0)},
		"watch: invalid JSON":                                   {then: "no ", want: &jsonscan.SyntaxError{Expected: "a watch event", Found: "'n'"}},
		"list: endless white space before the list":             {list: true, then: " ", slow: true, want: ErrSilent},
		"list: endless white space within the list":             {list: true, first: `{`, then: " ", slow: true, want: ErrSilent},
		"list: endless white space after the list":              {list: true, first: hostileList + `"items":[]}`, then: " ", slow: true, want: ErrSilent},
		"list: text after the list":                             {list: true, first: hostileList + `"items":[]}`, then: "x", want: &jsonscan.SyntaxError{Offset: 64, Expected: "the end of the body after the list", Found: "'x'"}},
		"list: endless string in an unknown field":              {list: true, first: `{"x":"`, then: "x", slow: true, want: ErrSilent},
		"list: endless unknown members":                         {list: true, first: `{`, then: `"x":[{}],`, slow: true, want: ErrSilent},
		"list: endless member name":                             {list: true, first: `{"`, then: "x", want: tooLargeAt(1)},
		"list: endless kind":                                    {list: true, first: `{"kind":"`, then: "x", want: tooLargeAt(8)},
		"list: endless continue token":                          {list: true, first: `{"metadata":{"continue":"`, then: "x", want: tooLargeAt(24)},
		"list: endless remainingItemCount":                      {list: true, first: `{"metadata":{"remainingItemCount":`, then: "1", want: tooLargeAt(34)},
		"list: endless string in an unknown metadata field":     {list: true, first: `{"metadata":{"remainingItemCount":1,"x":"`, then: "x", slow: true, want: ErrSilent},
		"list: endless white space after an item":               {list: true, first: hostileList + `"items":[` + hostileItem, then: " ", slow: true, want: ErrSilent},
		"list: endless unknown members in the metadata":         {list: true, first: `{"metadata":{`, then: `"x":"",`, slow: true, want: ErrSilent},
		"list: endless item":                                    {list: true, first: hostileList + `"items":[{`, then: `"x":[{}],`, want: tooLargeAt(62)},
		"list: endless items":                                   {list: true, first: hostileList + `"items":[` + hostileItem, then: "," + hostileItem, want: errEnough},
		"list: endless items without a kind":                    {list: true, first: `{"items":[` + hostileItem, then: "," + hostileItem, want: errEnough},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heap := memory.NewHeap()
				body := func(int) io.ReadCloser {
					e := &memory.Endless{First: c.first, Then: c.then, Most: hostileBytes, Heap: heap}
					if c.slow {
						e.Pace = func() { time.Sleep(time.Second) }
					}
					return e
				}
				server := &hostileServer{watch: body}
				opts, from := &Options{NoStreamingList: true}, "5"
				if c.list {
					server = &hostileServer{list: body}
					from = ""
				}
				requireEnd(t, server, from, 1000, opts, c.want)
				require.Less(t, heap.Grown(), int64(3*hostileFrame))
			})
		})
	}
}

// White space must not restart the idle timeout, because a hostile server could send it forever. The bytes before the
// white space do restart it.
func TestSlowBytesAreIdle(t *testing.T) {
	for name, c := range map[string]struct {
		list  bool
		first string
		took  time.Duration
	}{
		"within an event":  {false, hostileEvent + `"a":"`, time.Duration(len(hostileEvent)+5)*time.Second + 90*time.Second},
		"within an item":   {true, hostileList + `"items":[` + hostileItem[:20], time.Duration(len(hostileList)+29)*time.Second + 90*time.Second},
		"before the items": {true, `{"x":"`, 94 * time.Second},
		"between events":   {false, "\n\n\n\n\n", 65 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				body := func(int) io.ReadCloser {
					slow := &memory.Endless{First: c.first, Then: " ", Most: hostileBytes, Pace: func() { time.Sleep(time.Second) }}
					return io.NopCloser(iotest.OneByteReader(slow))
				}
				server := &hostileServer{list: body, watch: body}
				from := "5"
				if c.list {
					from = ""
				}
				requireEnd(t, server, from, 0, &Options{NoStreamingList: true}, ErrSilent)
				require.InDelta(t, c.took, time.Since(began), float64(maxInterval))
			})
		})
	}
}

// errEnough means that the stream yielded more objects than the test expects.
var errEnough = errors.New("received enough objects")

// requireEnd runs a stream until its first interruption, whose cause must match want. If from is not empty, the stream
// resumes from this resourceVersion. requireEnd returns the number of yielded objects.
func requireEnd(t *testing.T, server Transport, from string, most int, opts *Options, want error) (objects int) {
	t.Helper()
	fields, err := Project("a", "metadata.name")
	require.NoError(t, err)
	client, err := NewClient(server, Pods(""), fields, &ClientOptions{MaxFrame: hostileFrame})
	require.NoError(t, err)
	opts.StopOn = func(error) bool { return true }
	opts.Random = func() float64 { return 0 }
	var end *Interruption
	for event := range Resume(t.Context(), client, Held{ResourceVersion: from}, opts) {
		if end = event.Interruption; event.Type == Added {
			objects++
		}
		if most > 0 && objects > most {
			end = &Interruption{Err: errEnough, Final: true}
			break
		}
	}
	require.NotNil(t, end)
	require.Equal(t, want, end.Err)
	require.True(t, end.Final)
	return objects
}

// A server without streaming lists responds with an ordinary watch, whose changes are sorted by resourceVersion. An
// endless streaming list whose objects are also sorted by resourceVersion looks the same, so it must fail after a
// minute. Objects in another order can only come from a streaming list, so they must reach the caller.
func TestHostileStreamingLists(t *testing.T) {
	for name, c := range map[string]struct {
		version func(n int) int
		max     int
		want    error
	}{
		"ordered by resourceVersion":     {func(n int) int { return n + 1 }, 0, errNoInitialEnd},
		"not ordered by resourceVersion": {func(n int) int { return 1_000_000 - n }, 2000, errEnough},
		"ordered, above the maximum":     {func(n int) int { return n + 1 }, 20, errEnough},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heap, n := memory.NewHeap(), 0
				server := &hostileServer{watch: func(int) io.ReadCloser {
					return io.NopCloser(readerFunc(func(p []byte) (int, error) {
						time.Sleep(100 * time.Millisecond)
						n++
						if n%100 == 0 {
							heap.Look()
						}
						return copy(p, podEvent("ADDED", "a", strconv.Itoa(c.version(n)))), nil
					}))
				}}
				requireEnd(t, server, "", c.max, &Options{}, c.want)
				require.Less(t, heap.Grown(), int64(hostileFrame))
			})
		})
	}
}

func TestHostilePages(t *testing.T) {
	pages := func(token func(n int) string, names ...string) func(int) io.ReadCloser {
		return func(n int) io.ReadCloser { return io.NopCloser(strings.NewReader(podList("5", token(n), names...))) }
	}
	same, another := func(int) string { return "again" }, func(n int) string { return "t" + strconv.Itoa(n) }
	for name, c := range map[string]struct {
		list func(int) io.ReadCloser
		asks int
		want error
	}{
		"same token":                       {pages(same, "a"), 2, errNoProgress},
		"same token without objects":       {pages(same), 2, errNoProgress},
		"new tokens without objects":       {pages(another), requestBurst, errNoProgress},
		"new tokens with the same objects": {pages(another, "a"), 2, errNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			server := &hostileServer{list: c.list}
			heap := memory.NewHeap()
			requireEnd(t, server, "", 5000, &Options{NoStreamingList: true}, c.want)
			heap.Look()
			require.Equal(t, c.asks, server.lists)
			require.Less(t, heap.Grown(), int64(hostileFrame))
		})
	}
}

// A repeated continue token must cause a list without pagination. A few empty pages must not cause one, because real
// servers send them.
func TestPagesWithoutProgressLeadToUnpagedList(t *testing.T) {
	events, s := follow(t, nil,
		answer{body: podList("5", "t1", "a")}, answer{body: podList("5", "t1", "b")},
		answer{body: podList("5", "", "a", "b")})
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "ADDED b @", "INTERRUPTED " + errNoProgress.Error() + " @",
		"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @5"}, events)
	require.Equal(t, "/api/v1/pods?resourceVersion=0", s.requests[2])

	events, _ = follow(t, nil, answer{body: podList("5", "t", "a")}, answer{body: podList("5", "t0")}, answer{body: podList("5", "t1")},
		answer{body: podList("5", "u", "b")}, answer{body: podList("5", "v")}, answer{body: podList("5", "")})
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @5"}, events)
}

func TestMillionEventsNeedLittleMemory(t *testing.T) {
	heap := memory.NewHeap()
	const event = `{"type":"ADDED","object":{"metadata":{"name":"a"}}}`
	server := &hostileServer{watch: func(int) io.ReadCloser {
		return &memory.Endless{Then: event, Most: int64(1e6 * len(event)), Heap: heap}
	}}
	require.Equal(t, 1_000_000, requireEnd(t, server, "5", 0, &Options{}, memory.ErrEnough))
	require.Less(t, heap.Grown(), int64(256<<10))
}

func TestTruncatesLargeStatuses(t *testing.T) {
	heap := memory.NewHeap()
	statusErr := ReadStatusError(500, "", &memory.Endless{First: `{"kind":"Status","message":"`, Then: "x", Most: hostileBytes, Heap: heap}, nil)
	require.Equal(t, 500, statusErr.Code)
	require.LessOrEqual(t, len(statusErr.Message), 200)
	require.Less(t, heap.Grown(), int64(256<<10))

	event := `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"` + strings.Repeat("x", maxErrorBody) + `"}}`
	server := &hostileServer{watch: func(int) io.ReadCloser { return io.NopCloser(strings.NewReader(event)) }}
	requireEnd(t, server, "5", 0, &Options{}, &jsonscan.SyntaxError{Expected: "a Status in the ERROR event", Found: "an object of more than 64 kB"})

	const head, end = `{"kind":"Status","code":410,"message":"`, `"}`
	largest := head + strings.Repeat("x", maxErrorBody-len(head+end)) + end
	require.ErrorIs(t, textScanner(nil).status(&Scanned{body: []byte(largest)}), ErrExpired)

	require.Equal(t, `"`+strings.Repeat("x", 32)+`"`, shorten([]byte(strings.Repeat("x", 32))))
	require.Equal(t, `"`+strings.Repeat("x", 31)+`…"`, shorten([]byte(strings.Repeat("x", 31)+"é")))
	list := `{"kind":"` + strings.Repeat("x", 1000) + `"}`
	server = &hostileServer{list: func(int) io.ReadCloser { return io.NopCloser(strings.NewReader(list)) }}
	requireEnd(t, server, "", 0, &Options{NoStreamingList: true}, &jsonscan.SyntaxError{Offset: 1010, Expected: "a list with items",
		Found: `an object of kind "` + strings.Repeat("x", 32) + `…"`, Err: ErrNotList})
}

// After an object with many members, the scanner must not keep a large slice for the rest of the stream.
func TestScannerReleasesCuts(t *testing.T) {
	large := `{"metadata":{"name":"a"},` + strings.Repeat(`"a":0,"b":0,`, 1<<18) + `"a":0}`
	fields, err := Project("a")
	require.NoError(t, err)
	s := newScanner(strings.NewReader(large+hostileItem), 0, nil)
	var o Scanned
	for range 2 {
		s.Mark()
		s.object(&o)
		require.NoError(t, s.Err())
		o.body = s.Frame()
		_, err := fields.Decode(&o)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, cap(o.cuts), maxCuts)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
