// Package metrics tests both adapters on the same sequence of a stream.
package metrics

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// What must not come out as a label: who asks, and what was read.
const (
	token     = "pa55word"
	namespace = "payroll"
	name      = "salaries"
)

// seen has what the stream and the server know of the course, counted without the trace.
type seen struct {
	Lists, Watches   int // requests that the server received, one of each in vain
	Pages            int
	Added, Bookmarks int // events and items
	Secrets          []string
}

// follow runs a stream of Pods through what metrics should show, against the embedded server: a list that fails and one in
// pages, a transport that does not work, events, bookmarks, a dropped connection, an expired resourceVersion, a watch that is
// closed, and one that is rejected. It calls check after every event.
func follow(t *testing.T, trace *lw.Trace, check func(lw.Event[*lw.Object])) seen {
	t.Helper()
	server, err := lwtest.Start(&lwtest.Options{
		Tokens: map[string]lwtest.Access{token: lwtest.FullAccess}, BookmarkInterval: 50 * time.Millisecond,
	})
	require.NoError(t, err)
	defer server.Close()
	over, err := lwhttp.New(server.URL, &lwhttp.Options{Token: token})
	require.NoError(t, err)
	defer over.Close()
	client, err := lw.NewClient(fallback.New(listsOnly{over}, over), lw.Pods(namespace), lw.RawCodec{}, nil)
	require.NoError(t, err)

	found := seen{Secrets: []string{token, namespace, name, server.URL[len("http://"):]}}
	script := script{t: t, server: server}
	for range 3 {
		script.create()
	}
	server.Fail(lwtest.Lists, 1, lwtest.Gone()) // a list of the latest version follows, which servers page
	ctx, cancel := context.WithTimeout(lw.WithTrace(t.Context(), trace), time.Minute)
	defer cancel()
	ctx = clock.WithRandom(ctx, func() float64 { return 0 })
	for event := range lw.ListAndWatch(ctx, client, &lw.Options{NoStreamingList: true, PageSize: 2}) {
		check(event)
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
	require.Equal(t, 4, script.lives, "the course was not run to its end")
	found.Lists, found.Watches = len(server.Requests(lwtest.Lists)), len(server.Requests(lwtest.Watches))
	found.Pages = found.Lists - 1
	require.Greater(t, found.Pages, 2, "no list came in pages")
	return found
}

// listsOnly is a transport that a proxy lets nothing stream over.
type listsOnly struct{ lw.Transport }

func (l listsOnly) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	if req.Watch {
		return nil, lwhttp.ErrNotUpgraded
	}
	return l.Transport.Open(ctx, req)
}

// script does to the server what the course is about.
type script struct {
	t       *testing.T
	server  *lwtest.Server
	created int
	lives   int // how often a watch opened
}

func (s *script) create() {
	_, err := s.server.Create("pods", fmt.Sprintf(`{"metadata":{"namespace":%q,"name":"%s-%d"}}`, namespace, name, s.created))
	require.NoError(s.t, err)
	s.created++
}

// next takes the stream's event for the cue to what comes next. It returns true at the end.
func (s *script) next(event lw.Event[*lw.Object]) bool {
	added := event.Type == lw.Added && event.ResourceVersion != "" // by a watch
	if event.Type == lw.WatchStarted {
		s.lives++
	}
	switch {
	case event.Type == lw.WatchStarted && s.lives%2 == 1:
		s.create()
	case added && s.lives == 1:
		s.server.DropConnections()
		s.create() // the client misses this, and so its version is too old afterwards
		s.server.Compact()
	case added && s.lives == 3:
		forbidden := lw.Status{Code: 403, Reason: "Forbidden", Message: "pods is forbidden"}
		s.server.Fail(lwtest.Watches, 1, lwtest.Refuse(forbidden))
		s.server.CloseWatches()
	}
	return s.lives == 4 && event.Type == lw.Bookmark
}

// states checks the metrics of the two states after an event.
func states(t *testing.T, event lw.Event[*lw.Object], live, synced float64) {
	t.Helper()
	switch event.Type {
	case lw.WatchStarted:
		require.Equal(t, []float64{1, 1}, []float64{live, synced})
	case lw.Interrupted:
		require.Zero(t, live)
		require.Equal(t, event.Interruption.Relist, synced == 0)
	}
}

// take removes a series whose value is not exact.
func take(t *testing.T, series map[string]float64, id string) float64 {
	t.Helper()
	require.Contains(t, series, id)
	defer delete(series, id)
	return series[id]
}

func TestMain(m *testing.M) { leak.Main(m) }
