package lw

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// slowLink is a transport that delivers a response in segments, with a pause between two segments.
type slowLink struct {
	Transport
	segment int // bytes
	pause   time.Duration
}

func (s *slowLink) Open(ctx context.Context, req *Request) (*Response, error) {
	body, err := s.Transport.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	return &Response{ReadCloser: &slowBody{ReadCloser: body, ctx: ctx, link: s}}, nil
}

type slowBody struct {
	io.ReadCloser
	ctx     context.Context
	link    *slowLink
	started bool
}

func (b *slowBody) Read(p []byte) (int, error) {
	pause := b.link.pause
	if !b.started {
		b.started, pause = true, 0
	}
	select {
	case <-time.After(pause):
		return b.ReadCloser.Read(p[:min(len(p), b.link.segment)])
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	}
}

// largePod returns the JSON of a Pod without its closing brace. The Pod has a padding of size bytes.
func largePod(name, version string, size int) string {
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `","resourceVersion":"` + version + `"},"x":"` + strings.Repeat("x", size) + `"}`
}

// A large object may take minutes over a slow link. The stream must not give up, because the bytes show that the
// connection works.
func TestObjectsArriveOverSlowLinks(t *testing.T) {
	const size = 15_000
	list := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[` + largePod("a", "3", size) + "," + largePod("b", "4", size) + "]}"
	stream := `{"type":"ADDED","object":` + largePod("a", "3", size) + "}\n" + `{"type":"ADDED","object":` + largePod("b", "4", size) + "}\n" +
		`{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	watch := `{"type":"ADDED","object":` + largePod("a", "10", size) + "}\n" + `{"type":"ADDED","object":` + largePod("b", "11", size) + "}\n"
	for name, link := range map[string]slowLink{
		"100 bytes per second":                  {segment: 100, pause: time.Second},
		"a segment of 1460 bytes in 15 seconds": {segment: 1460, pause: 15 * time.Second},
		"10 bytes every 9 seconds":              {segment: 10, pause: 9 * time.Second},
	} {
		for kind, c := range map[string]struct {
			body string
			from string
			opts Options
		}{
			"list":           {list, "", Options{NoStreamingList: true}},
			"streaming list": {stream, "", Options{}},
			"watch":          {watch, "9", Options{}},
		} {
			t.Run(kind+" at "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					link := link
					link.Transport = &scriptedTransport{answers: []answer{{body: c.body, end: errHang}}}
					if kind == "list" {
						link.Transport.(*scriptedTransport).answers[0].end = nil
					}
					client, err := NewClient(&link, Pods(""), RawCodec{}, nil)
					require.NoError(t, err)
					c.opts.StopOn = func(error) bool { return true }
					var names []string
					for event := range Resume(t.Context(), client, Held{ResourceVersion: c.from}, &c.opts) {
						if event.Type == Interrupted {
							t.Fatal(event.Interruption.Err)
						}
						if event.Type == Added {
							names = append(names, event.Object.GetName())
						}
						if event.Type == Synced || len(names) == 2 && kind == "watch" {
							break
						}
					}
					require.Equal(t, []string{"a", "b"}, names)
				})
			})
		}
	}
}

// An endless object must end at its size limit. White space must not count as a part of an object, because a hostile
// server could send it forever.
func TestSlowHostileBodiesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"endless object":      {`{"type":"ADDED","object":{"x":"` + strings.Repeat("x", 10_000), jsonscan.TooLarge(0, 4000)},
		"blanks in an object": {`{"type":"ADDED","object":{` + strings.Repeat(" ", 10_000), ErrSilent},
		"blanks":              {strings.Repeat("\n", 10_000), ErrSilent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				link := &slowLink{&scriptedTransport{answers: []answer{{body: c.body, end: errHang}}}, 1, time.Second}
				client, err := NewClient(link, Pods(""), RawCodec{}, &ClientOptions{MaxFrame: 4000})
				require.NoError(t, err)
				for event := range Resume(t.Context(), client, Held{ResourceVersion: "9"}, &Options{StopOn: func(error) bool { return true }}) {
					if event.Type == Interrupted {
						require.Equal(t, c.want, event.Interruption.Err)
					}
				}
			})
		})
	}
}

// If a connection breaks within an object, this does not mean that the server lacks streaming lists, so the stream must
// keep requesting them.
func TestBrokenObjectKeepsStreamingLists(t *testing.T) {
	r := newStreamingHarness(t, Options{})
	for range 3 {
		r.opens()
		r.failsAfter(ErrSilent, 0, true)
	}
	require.True(t, r.options().SendInitialEvents)
}
