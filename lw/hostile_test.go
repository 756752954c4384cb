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

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/hostile"
	"github.com/stretchr/testify/require"
)

// hostileFrame is the largest frame in these tests, and hostileBytes what the server would send if it was let.
const (
	hostileFrame = 1 << 20
	hostileBytes = 24 << 20
)

// hostileServer answers lists, and watches, with a body of its own each.
type hostileServer struct {
	list, watch func(asked int) io.ReadCloser
	lists       int
	watches     int
}

func (h *hostileServer) Open(ctx context.Context, req *Request) (io.ReadCloser, error) {
	body := h.list
	asked := &h.lists
	if req.Watch {
		body, asked = h.watch, &h.watches
	}
	*asked++
	if body == nil {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return &scriptBodyOf{ctx, body(*asked)}, nil
}

// scriptBodyOf ends with its context, as the body of a transport does.
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

func tooLargeAt(offset int64) error { return &FrameTooLargeError{Offset: offset, Limit: hostileFrame} }

const (
	hostileEvent = `{"type":"ADDED","object":{"metadata":{"name":"a"},`
	hostileList  = `{"kind":"PodList","metadata":{"resourceVersion":"5"},`
	hostileItem  = `{"metadata":{"name":"a","resourceVersion":"1"}}`
)

// TestHostileBodies: what a server may send in place of a list or a watch, the error that ends it, and the memory that it
// holds meanwhile: three times the largest frame, whatever comes.
func TestHostileBodies(t *testing.T) {
	for name, c := range map[string]struct {
		list        bool
		first, then string
		slow        bool // a second passes before each read
		want        error
	}{
		"a watch's string without end":               {first: hostileEvent + `"a":"`, then: "x", want: tooLargeAt(0)},
		"a watch's number without end":               {first: hostileEvent + `"a":`, then: "1", want: tooLargeAt(0)},
		"a watch's members without end":              {first: hostileEvent, then: `"a":1,`, want: tooLargeAt(0)},
		"a watch's members without end, every other": {first: hostileEvent, then: `"a":1,"spec":2,`, want: tooLargeAt(0)},
		"a watch's elements without end":             {first: hostileEvent + `"spec":[`, then: `{},`, want: tooLargeAt(0)},
		"a watch's managedFields without end":        {first: `{"type":"ADDED","object":{"metadata":{`, then: `"managedFields":[],"a":0,`, want: tooLargeAt(0)},
		"a watch's name without end":                 {first: `{"type":"ADDED","object":{"metadata":{"name":"`, then: "x", want: tooLargeAt(0)},
		"a watch's type without end":                 {first: `{"type":"`, then: "x", want: tooLargeAt(0)},
		"a watch's unknown member without end":       {first: `{`, then: `"x":[{}],`, want: tooLargeAt(0)},
		"a watch's escapes without end":              {first: hostileEvent + `"a":"`, then: `\u0041`, want: tooLargeAt(0)},
		"a watch's white space within an event":      {first: `{"type"`, then: " ", want: tooLargeAt(0)},
		"a watch's white space between events":       {then: "\n", slow: true, want: ErrSilent},
		"a watch's nesting":                          {first: hostileEvent + `"a":`, then: "[", want: &MalformedError{Offset: 1052, Expected: "at most 1000 levels of nesting", Found: "one more"}},
		"a watch's Status without end":               {first: `{"type":"ERROR","object":{"kind":"Status","message":"`, then: "x", want: tooLargeAt(0)},
		"a watch that is no JSON":                    {then: "no ", want: &MalformedError{Expected: "a watch event", Found: "'n'"}},
		"a list's white space before it":             {list: true, then: " ", slow: true, want: ErrSilent},
		"a list's white space within it":             {list: true, first: `{`, then: " ", slow: true, want: ErrSilent},
		"a list's white space behind it":             {list: true, first: hostileList + `"items":[]}`, then: " ", slow: true, want: ErrSilent},
		"a list's text behind it":                    {list: true, first: hostileList + `"items":[]}`, then: "x", want: &MalformedError{Offset: 64, Expected: "the end of the body after the list", Found: "'x'"}},
		"a list's unknown string without end":        {list: true, first: `{"x":"`, then: "x", slow: true, want: ErrSilent},
		"a list's unknown members without end":       {list: true, first: `{`, then: `"x":[{}],`, slow: true, want: ErrSilent},
		"a list's member name without end":           {list: true, first: `{"`, then: "x", want: tooLargeAt(1)},
		"a list's kind without end":                  {list: true, first: `{"kind":"`, then: "x", want: tooLargeAt(8)},
		"a list's continue token without end":        {list: true, first: `{"metadata":{"continue":"`, then: "x", want: tooLargeAt(24)},
		"a list's count without end":                 {list: true, first: `{"metadata":{"remainingItemCount":`, then: "1", want: tooLargeAt(34)},
		"a list's metadata without end, behind it":   {list: true, first: `{"metadata":{"remainingItemCount":1,"x":"`, then: "x", slow: true, want: ErrSilent},
		"a list's white space behind an item":        {list: true, first: hostileList + `"items":[` + hostileItem, then: " ", slow: true, want: ErrSilent},
		"a list's metadata without end":              {list: true, first: `{"metadata":{`, then: `"x":"",`, slow: true, want: ErrSilent},
		"a list's item without end":                  {list: true, first: hostileList + `"items":[{`, then: `"x":[{}],`, want: tooLargeAt(62)},
		"a list's items without end":                 {list: true, first: hostileList + `"items":[` + hostileItem, then: "," + hostileItem, want: errEnough},
		"a list's items without end, behind no kind": {list: true, first: `{"items":[` + hostileItem, then: "," + hostileItem, want: errEnough},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heap := hostile.NewHeap()
				body := func(int) io.ReadCloser {
					e := &hostile.Endless{First: c.first, Then: c.then, Most: hostileBytes, Heap: heap}
					if c.slow {
						e.Pace = func() { time.Sleep(time.Second) }
					}
					return e
				}
				server := &hostileServer{watch: body}
				opts := &Options{NoStreamingList: true, ResumeFrom: "5", MaxObjects: 1000}
				if c.list {
					server = &hostileServer{list: body}
					opts.ResumeFrom = ""
				}
				requireEnd(t, server, opts, c.want)
				require.Less(t, heap.Grown(), int64(3*hostileFrame))
			})
		})
	}
}

// TestSlowBytes: what comes byte by byte is as good as nothing, however long it goes on.
func TestSlowBytes(t *testing.T) {
	for name, c := range map[string]struct {
		list  bool
		first string
		took  time.Duration
	}{
		"of an event":  {false, hostileEvent + `"a":"`, shortTimeout + idleGrace},
		"of an item":   {true, hostileList + `"items":[` + hostileItem[:20], idleRequest},
		"of no item":   {true, `{"x":"`, idleRequest},
		"of no object": {false, "\n\n\n\n\n", shortTimeout + idleGrace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				body := func(int) io.ReadCloser {
					slow := &hostile.Endless{First: c.first, Then: " ", Most: hostileBytes, Pace: func() { time.Sleep(time.Second) }}
					return io.NopCloser(iotest.OneByteReader(slow))
				}
				server := &hostileServer{list: body, watch: body}
				opts := &Options{NoStreamingList: true}
				if !c.list {
					opts.ResumeFrom = "5"
				}
				requireEnd(t, server, opts, ErrSilent)
				require.InDelta(t, c.took, time.Since(began), float64(maxInterval))
			})
		})
	}
}

// errEnough is what requireEnd ends with after as many objects as Options.MaxObjects says.
var errEnough = errors.New("enough objects")

// requireEnd follows a server until its first fault or until errEnough, and returns how many objects came.
func requireEnd(t *testing.T, server Transport, opts *Options, want error) (objects int) {
	t.Helper()
	fields, err := Project("a", "metadata.name")
	require.NoError(t, err)
	client, err := NewClient(server, Pods(""), fields, &ClientOptions{MaxFrame: hostileFrame})
	require.NoError(t, err)
	opts.StopOn = func(error) bool { return true }
	ctx := clock.WithRandom(t.Context(), func() float64 { return 0 })
	var end *Interruption
	for event := range ListAndWatch(ctx, client, opts) {
		if end = event.Interruption; event.Type == Added {
			objects++
		}
		if opts.MaxObjects > 0 && objects > opts.MaxObjects {
			end = &Interruption{Err: errEnough, Final: true}
			break
		}
	}
	require.NotNil(t, end)
	require.Equal(t, want, end.Err)
	require.True(t, end.Final)
	return objects
}

// TestHostileStreamingLists: a list part without an end is found by its order. Otherwise its objects go to the caller.
func TestHostileStreamingLists(t *testing.T) {
	for name, c := range map[string]struct {
		version func(n int) int
		max     int
		want    error
	}{
		"in the order of versions":             {func(n int) int { return n + 1 }, 0, ErrNoInitialEnd},
		"in another order":                     {func(n int) int { return 1_000_000 - n }, 2000, errEnough},
		"in the order of versions, but larger": {func(n int) int { return n + 1 }, 20, errEnough},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heap, n := hostile.NewHeap(), 0
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
				requireEnd(t, server, &Options{MaxObjects: c.max}, c.want)
				require.Less(t, heap.Grown(), int64(hostileFrame))
			})
		})
	}
}

// TestHostilePages: pages that lead nowhere are an error, after which all is asked for in one piece.
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
		"the same token again":               {pages(same, "a"), 2, ErrNoProgress},
		"the same token again, no objects":   {pages(same), 2, ErrNoProgress},
		"another token each, and no objects": {pages(another), requestBurst, ErrNoProgress},
		"another token each, same objects":   {pages(another, "a"), 2, ErrNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			server := &hostileServer{list: c.list}
			heap := hostile.NewHeap()
			requireEnd(t, server, &Options{NoStreamingList: true, MaxObjects: 5000}, c.want)
			heap.Look()
			require.Equal(t, c.asks, server.lists)
			require.Less(t, heap.Grown(), int64(hostileFrame))
		})
	}
}

// TestPagesWithoutProgressAreRequestedInOnePiece, after a delay. A few empty pages are no fault.
func TestPagesWithoutProgressAreRequestedInOnePiece(t *testing.T) {
	events, s := follow(t, nil,
		answer{body: podList("5", "t1", "a")}, answer{body: podList("5", "t1", "b")},
		answer{body: podList("5", "", "a", "b")})
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "ADDED b @", "INTERRUPTED " + ErrNoProgress.Error() + " @",
		"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @5"}, events)
	require.Equal(t, "/api/v1/pods?resourceVersion=0", s.asked[2])

	events, _ = follow(t, nil, answer{body: podList("5", "t", "a")}, answer{body: podList("5", "t0")}, answer{body: podList("5", "t1")},
		answer{body: podList("5", "u", "b")}, answer{body: podList("5", "v")}, answer{body: podList("5", "")})
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @5"}, events)
}

// TestAMillionTinyEvents are nothing but a million events.
func TestAMillionTinyEvents(t *testing.T) {
	heap := hostile.NewHeap()
	const event = `{"type":"ADDED","object":{"metadata":{"name":"a"}}}`
	server := &hostileServer{watch: func(int) io.ReadCloser {
		return &hostile.Endless{Then: event, Most: int64(1e6 * len(event)), Heap: heap}
	}}
	require.Equal(t, 1_000_000, requireEnd(t, server, &Options{ResumeFrom: "5"}, hostile.ErrEnough))
	require.Less(t, heap.Grown(), int64(256<<10))
}

// TestStatusesAreTruncated: neither a refusal's body nor an ERROR event may make an error of megabytes.
func TestStatusesAreTruncated(t *testing.T) {
	heap := hostile.NewHeap()
	refusal := ReadStatusError(500, "", &hostile.Endless{First: `{"kind":"Status","message":"`, Then: "x", Most: hostileBytes, Heap: heap})
	require.Equal(t, 500, refusal.Code)
	require.LessOrEqual(t, len(refusal.Message), 200)
	require.Less(t, heap.Grown(), int64(256<<10))

	event := `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"` + strings.Repeat("x", maxErrorBody) + `"}}`
	server := &hostileServer{watch: func(int) io.ReadCloser { return io.NopCloser(strings.NewReader(event)) }}
	requireEnd(t, server, &Options{ResumeFrom: "5"}, &MalformedError{Expected: "a Status in the ERROR event", Found: "an object of more than 64 kB"})

	const head, end = `{"kind":"Status","code":410,"message":"`, `"}`
	largest := head + strings.Repeat("x", maxErrorBody-len(head+end)) + end
	require.ErrorIs(t, errorOfEvent(&jsonDecoder{textScanner(nil)}, &Scanned{body: []byte(largest)}), ErrExpired)

	require.Equal(t, `"`+strings.Repeat("x", 32)+`"`, shorten([]byte(strings.Repeat("x", 32))))
	list := `{"kind":"` + strings.Repeat("x", 1000) + `"}`
	server = &hostileServer{list: func(int) io.ReadCloser { return io.NopCloser(strings.NewReader(list)) }}
	requireEnd(t, server, &Options{NoStreamingList: true}, &MalformedError{Offset: 1010, Expected: "a list with items",
		Found: `an object of kind "` + strings.Repeat("x", 32) + `…"`, Err: ErrNotList})
}

// TestCutsAreGivenBack: what was noted of an object of very many members is no reason to hold as much for as long as the
// stream lives.
func TestCutsAreGivenBack(t *testing.T) {
	large := `{"metadata":{"name":"a"},` + strings.Repeat(`"a":0,"b":0,`, 1<<18) + `"a":0}`
	fields, err := Project("a")
	require.NoError(t, err)
	s := newScanner(strings.NewReader(large+hostileItem), 0)
	var o Scanned
	for range 2 {
		s.Mark()
		s.object(&o)
		require.NoError(t, s.failure())
		o.body = s.Frame()
		_, err := fields.Decode(&o)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, cap(o.cuts), maxCuts)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
