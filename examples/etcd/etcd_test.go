package etcd

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/lw"
)

func TestMain(m *testing.M) { leak.Main(m) }

// gateway simulates an etcd server. It responds to each request with the next answer. It encodes keys and values in
// base64, so that the answers stay readable in tests. An answer with the suffix "…" stays open until the request is
// canceled. After the last answer, gateway calls stop.
type gateway struct {
	answers []string
	asked   []string
	stop    context.CancelFunc
}

var words = regexp.MustCompile(`"(key|value|range_end)":"([^"]*)"`)

func (g *gateway) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	g.asked = append(g.asked, req.URL.Path[len("/v3/"):]+" "+words.ReplaceAllStringFunc(string(text), func(match string) string {
		parts := words.FindStringSubmatch(match)
		word, _ := base64.StdEncoding.DecodeString(parts[2])
		return parts[1] + ":" + string(word)
	}))
	if len(g.asked) > len(g.answers) {
		g.stop()
		return nil, context.Cause(req.Context())
	}
	answer := g.answers[len(g.asked)-1]
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}}
	if code, rest, refused := strings.Cut(answer, "!"); refused {
		answer = rest
		resp.StatusCode, _ = strconv.Atoi(code)
	}
	answer, silent := strings.CutSuffix(answer, "…")
	answer = words.ReplaceAllStringFunc(answer, func(match string) string {
		parts := words.FindStringSubmatch(match)
		return `"` + parts[1] + `":"` + base64.StdEncoding.EncodeToString([]byte(parts[2])) + `"`
	})
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(answer), silence{req.Context(), silent}))
	return resp, nil
}

// silence follows the answer in a response body. If silent is false, Read returns io.EOF. If silent is true, Read
// blocks until the request is canceled. Like net/http's bodies, Read then returns ctx.Err() instead of the cause.
type silence struct {
	ctx    context.Context
	silent bool
}

func (s silence) Read([]byte) (int, error) {
	if !s.silent {
		return 0, io.EOF
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

const (
	created = `{"result":{"header":{"revision":"9"},"created":true}}`
	// transaction is a message with two transactions. Revision 10 changes /a/x, adds /a/y and deletes /a/z. Revision 11
	// changes /a/x again.
	transaction = `{"result":{"header":{"revision":"12"},"events":[
		{"kv":{"key":"/a/x","create_revision":"7","mod_revision":"10","value":"two"}},
		{"kv":{"key":"/a/y","create_revision":"10","mod_revision":"10"}},
		{"type":"DELETE","kv":{"key":"/a/z","mod_revision":"10"},"prev_kv":{"key":"/a/z","create_revision":"8","mod_revision":"8","value":"was"}},
		{"kv":{"key":"/a/x","create_revision":"7","mod_revision":"11","value":"three"}}]}}`
	progress  = `{"result":{"header":{"revision":"20"}}}`
	compacted = `{"result":{"header":{},"canceled":true,"compact_revision":"30"}}`
	list      = `{"header":{"revision":"9"},"kvs":[{"key":"/a/x","create_revision":"7","mod_revision":"7","value":"one"}],"count":"1"}`
)

// follow runs an informer against a gateway with the given answers and returns the events as strings. If stop is not
// empty, the informer restarts once after the event stop.
func follow(t *testing.T, answers []string, stop string) (events []string, g *gateway, store *cache.Store[*Entry]) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		g = &gateway{answers: answers, stop: cancel}
		keys := &Keys{URL: "http://127.0.0.1:2379", Prefix: "/a/", Client: http.Client{Transport: g}}
		r := cache.NewInformer(keys, &lw.Options{PageSize: 1, Random: func() float64 { return 0 }})
		store = r.Store()
		for ctx.Err() == nil {
			for event := range r.Follow(ctx) {
				events = append(events, describe(event))
				if events[len(events)-1] == stop {
					stop = ""
					break
				}
			}
		}
	})
	return events, g, store
}

func describe(event lw.Event[*Entry]) string {
	text := event.Type.String()
	switch {
	case event.Interruption != nil:
		text += " " + event.Interruption.Err.Error()
	case event.Object != nil:
		text += " " + event.Object.GetName() + "=" + string(event.Object.Value)
	}
	return text + " @" + event.ResourceVersion
}

const watchFrom = `watch {"create_request":{key:/a/,"prev_kv":true,"progress_notify":true,range_end:/a0,"start_revision":`

func TestFollowsKeys(t *testing.T) {
	events, g, store := follow(t, []string{
		`{"header":{"revision":"9"},"kvs":[{"key":"/a/x","create_revision":"7","mod_revision":"7","value":"one"}],"more":true,"count":"2"}`,
		`{"header":{"revision":"13"},"kvs":[{"key":"/a/z","create_revision":"8","mod_revision":"8","value":"was"}],"count":"2"}`,
		created + transaction + progress + compacted,
		`{"header":{"revision":"33"},"kvs":[{"key":"/a/y","create_revision":"10","mod_revision":"31","value":"new"}],"count":"1"}`,
	}, "")
	require.Equal(t, []string{
		"LIST_STARTED @", "ADDED /a/x=one @", "ADDED /a/z=was @", "SYNCED @9", "WATCH_STARTED @9",
		"MODIFIED /a/x=two @9", "ADDED /a/y= @9", "DELETED /a/z=was @10", "MODIFIED /a/x=three @11", "BOOKMARK @20",
		"INTERRUPTED " + lw.ErrExpired.Error() + ": etcd was compacted at revision 30 @20",
		"LIST_STARTED @", "ADDED /a/y=new @", "SYNCED @33",
	}, events)
	require.Equal(t, []string{
		`kv/range {key:/a/,"limit":1,range_end:/a0,"revision":"0"}`,
		`kv/range {key:/a/x` + "\x00" + `,"limit":1,range_end:/a0,"revision":"9"}`,
		watchFrom + `10}}`,
		`kv/range {key:/a/,"limit":1,range_end:/a0,"revision":"0"}`,
		watchFrom + `34}}`,
	}, g.asked)
	require.Equal(t, 1, store.Len())
}

func TestResumesWithinTransaction(t *testing.T) {
	// Before the restarted informer watches again, it checks that etcd still has the same history as its store.
	now := `{"header":{"revision":"11"},"kvs":[{"key":"/a/x","create_revision":"7","mod_revision":"11","value":"three"}],"count":"2"}`
	events, g, store := follow(t, []string{list, created + transaction + "…", now, created + transaction}, "ADDED /a/y= @9")
	check := `kv/range {key:/a/,"limit":1,range_end:/a0,"revision":"0"}`
	require.Equal(t, []string{watchFrom + `10}}`, check, watchFrom + `10}}`, watchFrom + `12}}`}, g.asked[1:])
	require.Contains(t, events, "DELETED /a/z=was @10")
	require.Equal(t, 2, store.Len())
}

// etcd itself reports no error for a watch from a future revision, for example after a restore.
func TestRejectsFutureRevision(t *testing.T) {
	events, _, _ := follow(t, []string{list, `{"result":{"header":{"revision":"8"},"created":true}}…`, list}, "")
	require.Equal(t, []string{"INTERRUPTED " + lw.ErrResourceVersionTooLarge.Error() + ": etcd is at revision 8 @9", "LIST_STARTED @", "ADDED /a/x=one @", "SYNCED @9"}, events[3:7])
}

func TestReturnsErrorResponses(t *testing.T) {
	failure := func(answer string) error {
		keys := &Keys{Prefix: "/a/", Client: http.Client{Transport: &gateway{answers: []string{answer}}}}
		for _, err := range keys.List(t.Context(), lw.ListOptions{}).Objects {
			return err
		}
		return nil
	}
	require.ErrorIs(t, failure(`400!{"code":11, "message":"etcdserver: mvcc: required revision has been compacted"}`), lw.ErrExpired)
	require.ErrorIs(t, failure(`403!{"code":7, "message":"etcdserver: permission denied"}`), lw.ErrForbidden)
	require.EqualError(t, failure(`503!<html>`), "the server answered 503")
	require.ErrorIs(t, failure(`{"header":`), io.ErrUnexpectedEOF)

	events, _, _ := follow(t, []string{list,
		`{"result":{"header":{},"created":true,"canceled":true,"cancel_reason":"permission denied"}}`,
		list, // checks that etcd was not rebuilt
		`{"error":{"code":14,"message":"shutting down"}}`,
		list,
		`{"result":`}, "")
	require.Equal(t, []string{"INTERRUPTED etcd: permission denied @9", "INTERRUPTED etcd: shutting down @9", "INTERRUPTED unexpected EOF @9"}, events[3:])
}

func TestWatchEndsAtTimeout(t *testing.T) {
	events, _, _ := follow(t, []string{list, created + "…"}, "")
	require.Equal(t, []string{"WATCH_STARTED @9", "INTERRUPTED " + lw.ErrWatchClosed.Error() + " @9"}, events[3:])

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		keys := &Keys{Prefix: "/a/", Client: http.Client{Transport: &gateway{answers: []string{created + "…"}}}}
		for _, err := range keys.Watch(ctx, lw.ListOptions{ResourceVersion: "9"}) {
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
				return
			}
		}
		t.Error("the watch must not close cleanly")
	})
}
