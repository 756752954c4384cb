package clientgo

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// outage is a server failure that an informer has to survive.
type outage struct {
	lists bool                      // whether the server has no streaming lists
	late  bool                      // whether the outage begins after the first list; unless act is set, the server then closes all watches
	match func(lwtest.Request) bool // failing requests; nil means all
	times int                       // number of failing requests, or -1 if requests fail until the informer reports an error or warns
	fault lwtest.Fault
	act   func(*lwtest.Server) // causes the outage and ends all watches, instead of fault

	reports string // reported errors without repetitions, both in calls to the watch error handler and in the log
	warns   bool   // whether client-go logs the outage as a warning of level 0
	informs bool   // whether this package logs the outage as information of level 0
}

func isStream(r lwtest.Request) bool { return r.URL.Query().Has("sendInitialEvents") }
func isWatch(r lwtest.Request) bool  { return lwtest.Watches(r) && !isStream(r) }

func refuse(code int, reason string) lwtest.Fault {
	return lwtest.Refuse(&lw.StatusError{Code: code, Reason: reason, Message: "no"})
}

var outages = map[string]outage{
	"403 at the start":               {times: -1, fault: refuse(403, "Forbidden"), reports: "Forbidden"},
	"401 at the start, lists":        {lists: true, times: -1, fault: refuse(401, "Unauthorized"), reports: "Unauthorized", informs: true},
	"404 at the start":               {times: -1, fault: refuse(404, "NotFound"), reports: "NotFound"},
	"500 at the start":               {times: -1, fault: refuse(500, "InternalError"), reports: "InternalError", informs: true},
	"429 at the start":               {times: 2, fault: refuse(429, "TooManyRequests"), informs: true},
	"streaming list 422":             {times: 1, match: isStream, fault: refuse(422, "Invalid"), informs: true},
	"streaming list 500":             {times: 1, match: isStream, fault: refuse(500, "InternalError"), informs: true},
	"streaming list reset":           {times: 1, match: isStream, fault: hangUp, informs: true},
	"streaming list malformed":       {times: 1, match: isStream, fault: garbage(0), informs: true},
	"list 500":                       {times: -1, lists: true, match: lwtest.Lists, fault: refuse(500, "InternalError"), reports: "InternalError", informs: true},
	"list malformed":                 {times: -1, lists: true, match: lwtest.Lists, fault: garbage(0), reports: "other", informs: true},
	"watch 403":                      {late: true, times: -1, fault: refuse(403, "Forbidden"), reports: "Forbidden"},
	"watch 404":                      {late: true, times: -1, fault: refuse(404, "NotFound"), reports: "NotFound"},
	"watch 500":                      {late: true, times: -1, match: isWatch, fault: refuse(500, "InternalError"), reports: "InternalError"},
	"watch 429":                      {late: true, times: 2, match: isWatch, fault: refuse(429, "TooManyRequests"), informs: true},
	"watch 410":                      {late: true, times: 1, match: isWatch, fault: refuse(410, "Expired"), reports: "Expired", informs: true},
	"410 event in a watch":           {late: true, times: 1, match: isWatch, fault: lwtest.Expire(0), informs: true},
	"watch reset before response":    {late: true, times: 1, match: isWatch, fault: hangUp},
	"watch truncated":                {late: true, times: -1, match: isWatch, fault: truncated, informs: true, warns: true},
	"watch malformed":                {late: true, times: -1, match: isWatch, fault: garbage(0), informs: true, warns: true},
	"expired while the watch is off": {late: true, times: 1, act: func(s *lwtest.Server) { putNode(s); s.Compact(); s.CloseWatches() }, informs: true},
	"reset":                          {late: true, times: 1, act: (*lwtest.Server).DropConnections},
	"server is restarted":            {late: true, times: 1, act: func(s *lwtest.Server) { s.Close(); _ = s.Restart() }},
}

var truncated = lwtest.ReplaceEvent(0, func(event []byte) ([]byte, bool) { return event[:len(event)/2], false })

// garbage returns a Fault that forwards n watch events and ends the response with invalid JSON.
func garbage(n int) lwtest.Fault {
	return lwtest.ReplaceEvent(n, func([]byte) ([]byte, bool) { return []byte("\x1f\x8b this is not JSON }\n"), false })
}

func putNode(s *lwtest.Server) { _, _ = s.Put("nodes", `{"metadata":{"name":"n"}}`) }

// logSink is a [logr.LogSink] for level 0. It passes on the messages of information lines and the errors of error
// lines.
type logSink struct {
	information func(line string)
	errors      func(error)
}

func (s *logSink) Init(logr.RuntimeInfo)               {}
func (s *logSink) Enabled(level int) bool              { return level == 0 }
func (s *logSink) WithValues(...any) logr.LogSink      { return s }
func (s *logSink) WithName(string) logr.LogSink        { return s }
func (s *logSink) Error(err error, _ string, _ ...any) { s.errors(err) }

func (s *logSink) Info(_ int, message string, _ ...any) {
	s.information(message)
}

// The watch error handler must be called for the same failures as client-go's, and the log must contain the same
// errors. All informers run in parallel, because client-go waits about a second after most failures.
func TestReportsLikeClientGo(t *testing.T) {
	t.Parallel()
	type result struct{ calls, errors, information []string }
	var mu sync.Mutex
	results := map[string]*result{}
	var running sync.WaitGroup
	for name, o := range outages {
		for library, create := range map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
			"client-go": func(l cache.ListerWatcher) cache.SharedIndexInformer {
				return cache.NewSharedIndexInformer(l, &corev1.Pod{}, 0, nil)
			},
			"listwatch": func(l cache.ListerWatcher) cache.SharedIndexInformer {
				return NewSharedIndexInformer(l, &corev1.Pod{}, 0, nil)
			},
		} {
			running.Go(func() {
				var r result
				r.calls, _ = o.run(t, name+", "+library, create, true)
				r.errors, r.information = o.run(t, name+", "+library, create, false)
				mu.Lock()
				defer mu.Unlock()
				results[name+", "+library] = &r
			})
		}
	}
	running.Wait()
	for name, o := range outages {
		t.Run(name, func(t *testing.T) {
			stock, ours := results[name+", client-go"], results[name+", listwatch"]
			t.Logf("client-go: %q, listwatch: %q", stock, ours)
			require.NotNil(t, stock)
			require.NotNil(t, ours)
			require.Equal(t, o.reports, strings.Join(stock.calls, " "))
			require.Equal(t, stock.calls, ours.calls)
			if o.reports != "Expired" { // client-go logs it at level 4
				require.Equal(t, stock.calls, stock.errors)
			}
			require.Equal(t, stock.errors, ours.errors)
			require.Equal(t, o.warns, len(stock.information) > 0)
			require.Equal(t, o.informs, len(ours.information) > 0)
		})
	}
}

// run runs an informer through an outage. It returns the reasons for the reported errors and the other lines of the
// informer's log, both without repetitions.
func (o *outage) run(t *testing.T, name string, create func(cache.ListerWatcher) cache.SharedIndexInformer, handle bool) ([]string, []string) {
	server, err := lwtest.Start(&lwtest.Options{NoStreamingLists: o.lists})
	require.NoError(t, err)
	defer server.Close()
	var down sync.RWMutex // locked while the server is down, so that no connection is refused
	// Other tests close the idle connections of http.DefaultTransport, so this test needs its own transport.
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		down.RLock()
		defer down.RUnlock()
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	config := &rest.Config{Host: server.URL, Transport: transport, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	informer := create(cache.NewListWatchFromClient(wrappedClient(t, config).CoreV1().RESTClient(), "pods", "", fields.Everything()))
	var mu sync.Mutex
	var reports, information []string
	add := func(to *[]string, line string) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(*to, line) {
			*to = append(*to, line)
		}
	}
	logger := logr.New(&logSink{
		information: func(line string) { add(&information, line) },
		errors:      func(err error) { add(&reports, cmp.Or(string(apierrors.ReasonForError(err)), "other")) },
	})
	if handle {
		require.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
			add(&reports, cmp.Or(string(apierrors.ReasonForError(err)), "other"))
		}))
	}
	var failures atomic.Int32
	outage := func() (repair func()) {
		switch {
		case o.act != nil:
			down.Lock()
			o.act(server)
			down.Unlock()
			failures.Add(1)
			return func() {}
		}
		return server.Fail(o.match, o.times, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			failures.Add(1)
			o.fault(w, r, next)
		})
	}
	repair := func() {}
	if !o.late {
		repair = outage()
	}
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	defer running.Wait()
	defer stop()
	if o.late {
		waitSynced(t, informer.HasSyncedChecker())
		eventually(t, func() bool { return len(server.Open(lwtest.Watches)) > 0 })
		putPod(t, server, "first", "n1") // client-go relists after a short watch without an event
		require.Eventually(t, func() bool { return len(informer.GetStore().List()) == 1 }, time.Minute, 5*time.Millisecond, name)
		repair = outage()
		if o.act == nil { // otherwise the informer may have reconnected, and client-go would warn about a second watch that is so short
			server.CloseWatches()
		}
		if o.warns { // because of an event that is in the watch from its start; client-go warns only if the watch ends within a second
			putPod(t, server, "early", "n1")
		}
	}
	failed := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return int(failures.Load()) >= o.times && (o.times > 0 || len(reports) > 0 || o.warns && len(information) > 0)
	}
	require.Eventually(t, failed, time.Minute, 5*time.Millisecond, name)
	repair()
	putPod(t, server, "last", "n1")
	last := func() bool { return slices.Contains(informer.GetStore().ListKeys(), "shop/last") }
	require.Eventually(t, last, time.Minute, 5*time.Millisecond, name)
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(reports), slices.Clone(information) // client-go may report the shutdown itself
}
