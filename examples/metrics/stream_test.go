// Package metrics tests the packages prometheus and otel with the same stream.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// These strings occur in requests, objects and errors, and must not appear in labels.
const (
	token     = "pa55word"
	namespace = "payroll"
	name      = "salaries"
)

// seen contains the numbers of requests and events, which the test counts independently of the trace.
type seen struct {
	Lists, Watches   int // numbers of requests, including failed requests
	Pages            int
	Added, Bookmarks int // numbers of events; Added includes list items
	Checked          int // number of objects in the checks after broken connections, which cause no events
	Phases           []string
	Secrets          []string
}

// follow runs a stream of Pods with interruptions against the embedded server. It calls phase before the stream, after
// each event and after the stream. It returns the numbers of requests and events, and the sequence of phases.
func follow(t *testing.T, trace *lw.Trace, phase func() string) seen {
	t.Helper()
	server, err := lwtest.Start(&lwtest.Options{
		Tokens: map[string]bool{token: true}, BookmarkInterval: 50 * time.Millisecond,
	})
	require.NoError(t, err)
	defer server.Close()
	overHTTP, err := lwhttp.New(server.URL, &lwhttp.Options{Token: token})
	require.NoError(t, err)
	defer overHTTP.Close()
	client, err := lw.NewClient(fallback.New(listsOnly{overHTTP}, overHTTP), lw.Pods(namespace), lw.RawCodec{}, nil)
	require.NoError(t, err)

	found := seen{Secrets: []string{token, namespace, name, server.URL[len("http://"):]}}
	script := script{t: t, server: server}
	for range 3 {
		script.create()
	}
	server.Fail(lwtest.Lists, 1, lwtest.Refuse(&lw.StatusError{Code: 410, Reason: "Expired"})) // After this error, the client lists at the latest resourceVersion, for which the server uses pages.
	ctx, cancel := context.WithTimeout(lw.WithTrace(t.Context(), trace), time.Minute)
	defer cancel()
	found.Phases = []string{phase()}
	for event := range lw.ListAndWatch(ctx, client, &lw.Options{NoStreamingList: true, PageSize: 2, Random: func() float64 { return 0 }}) {
		found.Phases = append(found.Phases, phase())
		switch event.Type {
		case lw.Added:
			found.Added++
		case lw.Bookmark:
			found.Bookmarks++
		}
		if script.next(event) {
			break
		}
	}
	require.Equal(t, 4, script.lives, "the stream must not end early")
	found.Phases = slices.Compact(append(found.Phases, phase()))
	found.Lists, found.Watches = len(server.Requests(lwtest.Lists)), len(server.Requests(lwtest.Watches))
	found.Pages = found.Lists - 1
	found.Checked = len(server.Requests(func(r lwtest.Request) bool { return r.Verb == "list" && r.URL.Query().Get("limit") == "1" }))
	require.Greater(t, found.Pages, 2, "at least one list must have more than one page")
	return found
}

// listsOnly is an lw.Transport that rejects watches.
type listsOnly struct{ lw.Transport }

func (l listsOnly) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if req.Watch {
		return nil, errors.ErrUnsupported
	}
	return l.Transport.Open(ctx, req)
}

// script changes Pods and injects faults in response to events.
type script struct {
	t       *testing.T
	server  *lwtest.Server
	created int
	lives   int // number of WatchStarted events
}

func (s *script) create() {
	_, err := s.server.Put("pods", fmt.Sprintf(`{"metadata":{"namespace":%q,"name":"%s-%d"}}`, namespace, name, s.created))
	require.NoError(s.t, err)
	s.created++
}

// next handles an event and returns true at the end of the script.
func (s *script) next(event lw.Event[*lw.Object]) bool {
	added := event.Type == lw.Added && event.ResourceVersion != "" // list items have no resourceVersion
	if event.Type == lw.WatchStarted {
		s.lives++
	}
	switch {
	case event.Type == lw.WatchStarted && s.lives%2 == 1:
		s.create()
	case added && s.lives == 1:
		s.server.DropConnections()
		s.create() // the client misses this event, so Compact makes its resourceVersion expire
		s.server.Compact()
	case added && s.lives == 3:
		forbidden := &lw.StatusError{Code: 403, Reason: "Forbidden", Message: "pods is forbidden"}
		s.server.Fail(lwtest.Watches, 1, lwtest.Refuse(forbidden))
		s.server.CloseWatches()
	}
	return s.lives == 4 && event.Type == lw.Bookmark
}

// phases lists the stream's phases in follow. An expired watch starts before it fails.
var phases = []string{"waiting", "listing", "live", "stale", "live", "stale", "live", "stale", "live", "stopped"}

// phaseOf returns the only phase whose time series has the value 1. The other series must be 0.
func phaseOf(t *testing.T, series map[string]float64, id func(phase string) string) string {
	t.Helper()
	var current []string
	for _, phase := range []string{"waiting", "listing", "live", "stale", "stopped"} {
		if value := take(t, series, id(phase)); value != 0 {
			require.Equal(t, 1.0, value)
			current = append(current, phase)
		}
	}
	require.Len(t, current, 1)
	return current[0]
}

// restored runs an informer with a restored state twice. The first run ends when the restored state is complete, and
// the second run ends when the watch has started. restored returns the phases at these times, after each run, and
// before the request of the second run.
func restored(t *testing.T, trace *lw.Trace, phase func() string) (phases []string) {
	t.Helper()
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)
	created, err := server.Put("pods", `{"metadata":{"namespace":"shop","name":"web"}}`)
	require.NoError(t, err)
	informer := cache.NewInformer(client, nil)
	informer.RestoreObjects(created.GetResourceVersion(), []*lw.Object{created})
	see := func() { phases = append(phases, phase()) }
	observed := *trace
	observed.Open = func(req *lw.Request) { trace.Open(req); see() }
	for _, last := range []lw.EventType{lw.Restored, lw.WatchStarted} {
		for event := range informer.Follow(lw.WithTrace(t.Context(), &observed)) {
			if event.Type == last {
				see()
				break
			}
		}
		see()
	}
	return phases
}

// take removes a time series from series and returns its value. The test calls take for values that it cannot predict.
func take(t *testing.T, series map[string]float64, id string) float64 {
	t.Helper()
	require.Contains(t, series, id)
	defer delete(series, id)
	return series[id]
}

func TestMain(m *testing.M) { leak.Main(m) }
