// Package course leads a stream through what metrics should show, against the embedded server: a list that fails and one in
// pages, a transport that does not do, events, bookmarks, a dropped connection, an expired version, a watch that is closed,
// and one that is refused.
package course

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// What must not come out as a label: who asks, and what was read.
const (
	token     = "pa55word"
	namespace = "payroll"
	name      = "salaries"
)

// Seen is what the stream and the server know of the course, counted without the trace.
type Seen struct {
	Lists, Watches   int // requests that the server received, one of each in vain
	Pages            int
	Added, Bookmarks int // events and items
	Secrets          []string
}

// Run leads a stream of Pods that the trace sees through the course. check is called after every event.
func Run(t *testing.T, trace *lw.Trace, check func(lw.Event[*lw.Object])) Seen {
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

	seen := Seen{Secrets: []string{token, namespace, name, server.URL[len("http://"):]}}
	script := script{t: t, server: server}
	for range 3 {
		script.create()
	}
	server.Fail(lwtest.Lists, 1, lwtest.Gone()) // a list of the latest version follows, which servers page
	ctx, cancel := context.WithTimeout(lw.WithTrace(t.Context(), trace), time.Minute)
	defer cancel()
	opts := &lw.Options{NoStreamingList: true, PageSize: 2, Random: func() float64 { return 0 }}
	for event := range lw.ListAndWatch(ctx, client, opts) {
		check(event)
		switch event.Type {
		case lw.Added:
			seen.Added++
		case lw.Bookmark:
			seen.Bookmarks++
		}
		if script.next(event) {
			break
		}
	}
	require.Equal(t, 4, script.lives, "the course was not run to its end")
	seen.Lists, seen.Watches = len(server.Requests(lwtest.Lists)), len(server.Requests(lwtest.Watches))
	seen.Pages = seen.Lists - 1
	require.Greater(t, seen.Pages, 2, "no list came in pages")
	return seen
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
	if event.Type == lw.Live {
		s.lives++
	}
	switch {
	case event.Type == lw.Live && s.lives%2 == 1:
		s.create()
	case added && s.lives == 1:
		s.server.DropConnections()
		s.create() // the client misses this, and so its version is too old afterwards
		s.server.Compact()
	case added && s.lives == 3:
		forbidden := lwtest.Status{Code: 403, Reason: "Forbidden", Message: "pods is forbidden"}
		s.server.Fail(lwtest.Watches, 1, lwtest.Refuse(forbidden))
		s.server.CloseWatches()
	}
	return s.lives == 4 && event.Type == lw.Bookmark
}
