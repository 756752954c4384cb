package controllerruntime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestReadsShowWrites runs random schedules of writes, deletions, outages and relists in simulated time. A read must
// never return a state that is older than the client's last write. It must not wait longer than allowed. SEEDS sets the
// number of schedules, and FIRST the first seed.
func TestReadsShowWrites(t *testing.T) {
	number := func(name string, otherwise uint64) uint64 {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	first := number("FIRST", 1)
	for seed := first; seed < first+number("SEEDS", 300); seed++ {
		synctest.Test(t, func(t *testing.T) { runSchedule(t, seed) })
		if t.Failed() {
			t.Fatalf("the schedule of seed %d failed; FIRST=%d SEEDS=1 repeats it", seed, seed)
		}
	}
}

// memory is a [net.Listener] whose connections are pipes, because simulated time does not advance while a goroutine
// waits for a socket.
type memory struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.accepted <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.accepted:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	close(m.closed)
	return nil
}

func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// collection describes a kind in the schedules.
type collection struct {
	plural   string
	kind     string
	resource func() client.Object
	list     func() client.ObjectList
	scoped   bool // the kind has namespaces
	selected func(object map[string]any) bool
}

func everything(map[string]any) bool { return true }

// inSelection mirrors the selectors that the cache has for Pods.
func inSelection(object map[string]any) bool {
	has, _ := object["metadata"].(map[string]any)["labels"].(map[string]any)
	spec, _ := object["spec"].(map[string]any)
	return has["tier"] == "web" && spec["nodeName"] == "n1"
}

var collections = []collection{
	{"configmaps", "ConfigMap", func() client.Object { return &corev1.ConfigMap{} }, func() client.ObjectList { return &corev1.ConfigMapList{} }, true, everything},
	{"pods", "Pod", func() client.Object { return &corev1.Pod{} }, func() client.ObjectList { return &corev1.PodList{} }, true, inSelection},
	{"nodes", "Node", func() client.Object { return &corev1.Node{} }, func() client.ObjectList { return &corev1.NodeList{} }, false, everything},
}

// state describes an object on the server from one change to the next.
type state struct {
	revision int64
	present  bool // in the selection
}

// history contains all states of an object, and the revision of the client's last write to it.
type history struct {
	states  []state
	minimum int64
}

// shows reports whether a response is possible: the object has had the returned state since the client's last write.
// revision is the object's revision in the response, or 0 if the response does not contain the object.
func (h *history) shows(revision int64) bool {
	for n, s := range h.states {
		last := n == len(h.states)-1
		if (last || h.states[n+1].revision > h.minimum) && s.present == (revision != 0) && (revision == 0 || s.revision == revision) {
			return true
		}
	}
	return false
}

// schedule is the state of one run.
type schedule struct {
	*testing.T
	mu        sync.Mutex
	random    *rand.Rand
	server    *lwtest.Server
	client    client.Client
	timeout   time.Duration
	limited   bool // the cache follows only the namespaces a and b
	histories map[string]*history
	outage    atomic.Bool
	noAnswer  atomic.Bool // the client cannot ask for single objects
	slow      bool        // each event takes a while to arrive
	stalled   bool        // watches are silent
	faulty    time.Time   // time of the end of the last fault
}

var testNamespaces = []string{"a", "b", "c"}

func runSchedule(t *testing.T, seed uint64) {
	s := newSchedule(t, seed, 0)
	for range 30 + s.intN(30) {
		s.step()
		if t.Failed() {
			break
		}
	}
	s.endFaults()
	time.Sleep(3 * time.Minute)
	for range 20 {
		s.write()
		s.read()
	}
}

// newSchedule starts a server and a cache. A zero timeout selects a random one.
func newSchedule(t *testing.T, seed uint64, timeout time.Duration) *schedule {
	random := rand.New(rand.NewPCG(seed, 0))
	network := &memory{make(chan net.Conn), make(chan struct{})}
	server, err := lwtest.Start(&lwtest.Options{Listener: network, BookmarkInterval: []time.Duration{time.Second, time.Minute}[random.IntN(2)]})
	require.NoError(t, err)
	s := &schedule{
		T: t, random: random, server: server, timeout: []time.Duration{3 * time.Second, 10 * time.Second, 30 * time.Second}[random.IntN(3)],
		limited: random.IntN(2) == 0, slow: random.IntN(2) == 0, histories: map[string]*history{},
	}
	if timeout > 0 {
		s.timeout = timeout
	}
	transport := &http.Transport{DialContext: network.dial}
	config := &rest.Config{Host: "http://127.0.0.1", Transport: transport, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, c := range collections {
		scope := meta.RESTScopeRoot
		if c.scoped {
			scope = meta.RESTScopeNamespace
		}
		mapper.Add(corev1.SchemeGroupVersion.WithKind(c.kind), scope)
		mapper.Add(corev1.SchemeGroupVersion.WithKind(c.kind+"List"), scope)
	}
	// Without a handler, the informers would report errors to utilruntime.HandleError. HandleError sleeps until shortly
	// after the process's last error. If that error occurred in real time, HandleError would sleep for 26 years of
	// simulated time.
	ignore := func(context.Context, *toolscache.Reflector, error) {}
	opts := cache.Options{Mapper: mapper, DefaultWatchErrorHandler: ignore, ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
		Label: labels.SelectorFromSet(labels.Set{"tier": "web"}), Field: fields.OneTermEqualSelector("spec.nodeName", "n1"),
	}}}
	if s.limited {
		opts.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}}
	}
	reads, err := Options{Random: func() float64 { return 0.5 }}.NewCache(config, opts)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- reads.Start(ctx) }()
	t.Cleanup(func() {
		s.endFaults()
		stop()
		require.NoError(t, <-ended)
		transport.CloseIdleConnections()
		server.Close()
	})
	require.True(t, reads.WaitForCacheSync(ctx))
	s.client, err = ReadYourWrites{Timeout: s.timeout}.NewClient(config, client.Options{Mapper: mapper, Cache: &client.CacheOptions{Reader: reads}})
	require.NoError(t, err)
	server.Fail(func(r lwtest.Request) bool { return r.URL.Query().Get("dryRun") != "" }, -1, pretend)
	server.Fail(func(r lwtest.Request) bool { return r.Method != "GET" }, -1, s.answer)
	server.Fail(func(r lwtest.Request) bool { return lwtest.Watches(r) || lwtest.Lists(r) }, -1, s.follow)
	return s
}

// pretend answers a dry run with a resourceVersion that no store reaches.
func pretend(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"a","resourceVersion":"1000000"}}`))
}

// answer delays requests and responses, so that overlapping writes end in any order. It answers some deletions with the
// object, as real servers do for Pods.
func (s *schedule) answer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	s.mu.Lock()
	before, after, object := s.random.IntN(3), s.random.IntN(3), s.random.IntN(2) == 0
	s.mu.Unlock()
	time.Sleep(time.Duration(before) * time.Millisecond)
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, r)
	body := recorded.Body.Bytes()
	if r.Method == "DELETE" && recorded.Code == http.StatusOK && object {
		version, _ := s.server.State("pods")
		body = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","labels":{"tier":"web"},"resourceVersion":%q}}`, version)
	}
	time.Sleep(time.Duration(after) * time.Millisecond)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(body)
}

// follow answers lists and watches, except during an outage. On a slow link, it delays each event.
func (s *schedule) follow(w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch {
	case s.outage.Load() || s.noAnswer.Load() && strings.Contains(r.URL.Query().Get("fieldSelector"), "metadata.name"):
		panic(http.ErrAbortHandler)
	case s.slow && r.URL.Query().Has("watch"):
		next.ServeHTTP(&slowly{w, s}, r)
	default:
		next.ServeHTTP(w, r)
	}
}

// slowly is an [http.ResponseWriter] that delays each line.
type slowly struct {
	http.ResponseWriter
	schedule *schedule
}

func (w *slowly) Write(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		time.Sleep(time.Duration(w.schedule.intN(40)) * time.Millisecond)
		if _, err := w.ResponseWriter.Write(line); err != nil {
			return 0, err
		}
		w.Flush()
	}
	return len(data), nil
}

func (w *slowly) Flush()                      { _ = http.NewResponseController(w.ResponseWriter).Flush() }
func (w *slowly) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (s *schedule) intN(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

func (s *schedule) one(percent int) bool { return s.intN(100) < percent }

func (s *schedule) step() {
	switch n := s.intN(100); {
	case n < 35:
		s.write()
		if s.one(70) {
			s.read()
		}
	case n < 50:
		for range 1 + s.intN(5) { // between the events of a slow link
			s.read()
			time.Sleep(time.Duration(s.intN(30)) * time.Millisecond)
		}
	case n < 60:
		s.dryRun()
	case n < 72:
		s.foreignWrite()
	case n < 78:
		s.outage.Store(true)
		s.server.DropConnections()
	case n < 82:
		s.server.Compact() // expires a slow watch
		s.faulty = time.Now()
	case n < 85 && !s.stalled:
		s.stalled = true
		s.server.StallWatches(true)
	case n < 92:
		s.endFaults()
	default:
		time.Sleep(time.Duration(s.intN(int(20 * time.Second))))
	}
}

func (s *schedule) endFaults() {
	if s.outage.Swap(false) {
		s.faulty = time.Now()
	}
	if s.stalled {
		s.server.StallWatches(false)
		s.stalled, s.faulty = false, time.Now()
	}
}

// healthy reports whether the watches have worked for so long that every store is current.
func (s *schedule) healthy() bool {
	return !s.outage.Load() && !s.stalled && time.Since(s.faulty) > 2*time.Minute
}

func (s *schedule) target() (collection, client.ObjectKey) {
	c, key := collections[s.intN(len(collections))], client.ObjectKey{Name: string(rune('x' + s.intN(2)))}
	if c.scoped {
		key.Namespace = testNamespaces[s.intN(len(testNamespaces))]
	}
	return c, key
}

func pathOf(key client.ObjectKey) string {
	if key.Namespace == "" {
		return key.Name
	}
	return key.String()
}

// observe adds the present state of an object to its history. If own is set, the client wrote it.
func (s *schedule) observe(c collection, key client.ObjectKey, own bool) {
	version, objects := s.server.State(c.plural)
	revision, _ := strconv.ParseInt(version, 10, 64)
	h := s.history(c, key)
	next := state{revision: revision}
	if object := objects[pathOf(key)]; object != nil {
		var values map[string]any
		require.NoError(s, json.Unmarshal([]byte(object.Raw()), &values))
		next.present = c.selected(values)
		next.revision, _ = strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	}
	if last := h.states[len(h.states)-1]; last.revision != next.revision && (last.present || next.present) {
		h.states = append(h.states, next)
	}
	if own {
		h.minimum = revision
	}
}

func (s *schedule) history(c collection, key client.ObjectKey) *history {
	name := c.plural + " " + pathOf(key)
	if s.histories[name] == nil {
		s.histories[name] = &history{states: []state{{}}}
	}
	return s.histories[name]
}

// object returns an object with random labels and, for Pods, a random node.
func (s *schedule) object(c collection, key client.ObjectKey) client.Object {
	object := c.resource()
	object.SetName(key.Name)
	object.SetNamespace(key.Namespace)
	tier := "web"
	if s.one(30) {
		tier = "db"
	}
	object.SetLabels(map[string]string{"tier": tier, "n": strconv.Itoa(s.intN(1_000_000_000))})
	if pod, ok := object.(*corev1.Pod); ok {
		pod.Spec.NodeName = "n1"
		if s.one(20) {
			pod.Spec.NodeName = "n2"
		}
	}
	return object
}

// write writes an object, sometimes with two writes at the same time.
func (s *schedule) write() {
	c, key := s.target()
	write := s.change(c, key)
	if !s.one(30) {
		s.observe(c, key, write() == nil)
		return
	}
	other, done := s.change(c, key), make(chan error)
	go func() { done <- other() }()
	first, second := write(), <-done
	s.observe(c, key, first == nil || second == nil)
}

// change returns a func that writes an object.
func (s *schedule) change(c collection, key client.ObjectKey) func() error {
	ctx, object := s.Context(), s.object(c, key)
	switch n := s.intN(100); {
	case n < 35:
		return func() error { return s.client.Create(ctx, object) }
	case n < 55:
		return func() error { return s.client.Update(ctx, object) }
	case n < 75:
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(c.kind))
		partial.SetName(key.Name)
		partial.SetNamespace(key.Namespace)
		text, _ := json.Marshal(map[string]any{"metadata": map[string]any{"labels": object.GetLabels()}})
		return func() error { return s.client.Patch(ctx, partial, client.RawPatch(types.MergePatchType, text)) }
	}
	return func() error { return s.client.Delete(ctx, object) }
}

func (s *schedule) foreignWrite() {
	c, key := s.target()
	if s.one(40) {
		_ = s.server.Delete(c.plural, key.Namespace, key.Name) // may not exist
	} else {
		_, err := s.server.Put(c.plural, s.object(c, key))
		require.NoError(s, err)
	}
	s.observe(c, key, false)
}

// dryRun sends a dry run of a creation and checks that later reads do not wait for it.
func (s *schedule) dryRun() {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}
	read := func() {
		require.NoError(s, client.IgnoreNotFound(s.client.Get(s.Context(), client.ObjectKeyFromObject(object), &corev1.ConfigMap{})))
	}
	if s.healthy() {
		read() // may wait for earlier writes
	}
	err := s.client.Create(s.Context(), object, client.DryRunAll) // fails if an outage has closed the connection
	if err == nil && s.healthy() {
		began := time.Now()
		read()
		require.Zero(s, time.Since(began), "a read has waited for a dry run")
	}
}

// read reads an object or a list and checks the result.
func (s *schedule) read() {
	c, key := s.target()
	if s.limited && key.Namespace == "c" {
		return // the cache rejects the read
	}
	began, healthy := time.Now(), s.healthy()
	object, list := c.resource(), c.list()
	if s.one(50) {
		partial, partials := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{}
		partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(c.kind))
		partials.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(c.kind + "List"))
		object, list = partial, partials
	}
	// An outage does not end while a list blocks until its informer has synced, so the context must end the read.
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	var err error
	shown := map[string]int64{}
	show := func(object client.Object) {
		shown[pathOf(client.ObjectKeyFromObject(object))], _ = strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	}
	one := s.one(50)
	if !one && s.one(40) {
		key.Namespace = ""
	}
	if one {
		if err = s.client.Get(ctx, key, object); err == nil {
			show(object)
		}
		err = client.IgnoreNotFound(err)
	} else {
		err = s.client.List(ctx, list, client.InNamespace(key.Namespace))
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			show(item.(client.Object))
			return nil
		})
	}
	if err != nil {
		s.checkError(err, time.Since(began), healthy)
		return
	}
	limit := s.timeout
	if healthy {
		limit = 4 * askAfter // for a list, the client may have to ask about a few objects that no longer match a field selector
	}
	require.LessOrEqual(s, time.Since(began), max(limit, 0)+s.synced(began), "%s %v", c.plural, key)
	for _, name := range []string{"x", "y"} {
		for _, namespace := range append([]string{""}, testNamespaces...) {
			other := client.ObjectKey{Namespace: namespace, Name: name}
			covered := namespace == key.Namespace || key.Namespace == "" && c.scoped && namespace != ""
			if (one && other != key) || !covered || (namespace == "") == c.scoped || s.limited && namespace == "c" {
				continue
			}
			h := s.history(c, other)
			require.True(s, h.shows(shown[pathOf(other)]), "%s %s has version %d, after the client's write at %d: %v", c.plural, other, shown[pathOf(other)], h.minimum, h.states)
		}
	}
}

// synced returns how long a read may have waited for the first list of an informer, which the timeout does not include.
func (s *schedule) synced(began time.Time) time.Duration {
	if s.healthy() {
		return 0
	}
	return time.Minute
}

func (s *schedule) checkError(err error, elapsed time.Duration, healthy bool) {
	stale, ok := errors.AsType[*StaleReadError](err)
	switch {
	case healthy:
		require.NoError(s, err)
	case !ok: // the first list of the informer did not end
		require.True(s, apierrors.IsTimeout(err), err)
	case stale.Err == nil:
		require.LessOrEqual(s, elapsed, s.timeout+s.synced(time.Time{}))
		require.GreaterOrEqual(s, elapsed, min(s.timeout, healthyTimeout))
	}
}

// TestReadsEndInTime checks how long a read waits for a write that does not arrive.
func TestReadsEndInTime(t *testing.T) {
	for name, test := range map[string]struct {
		timeout, outage, want time.Duration
	}{
		"a healthy watch":             {30 * time.Second, 0, healthyTimeout},
		"the timeout is shorter":      {2 * time.Second, 0, 2 * time.Second},
		"the outage does not end":     {7 * time.Second, time.Hour, 7 * time.Second},
		"the watch recovers":          {time.Hour, time.Second, 0},
		"the watch recovers too late": {3 * time.Second, time.Second, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSchedule(t, 1, test.timeout)
				object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}
				get := func() error { return s.client.Get(s.Context(), client.ObjectKeyFromObject(object), object.DeepCopy()) }
				require.True(t, apierrors.IsNotFound(get()))
				s.noAnswer.Store(true)
				if test.outage > 0 {
					s.outage.Store(true)
					s.server.DropConnections()
					synctest.Wait()
				}
				unreached := write{number: 1, version: "1000000"}
				for _, f := range s.client.(*consistentClient).followers(object) {
					f.record(client.ObjectKeyFromObject(object), unreached, 0)
				}
				began := time.Now()
				restored := time.AfterFunc(test.outage, func() { s.outage.Store(false) })
				defer restored.Stop()
				err := get()
				stale, ok := errors.AsType[*StaleReadError](err)
				require.True(t, ok, err)
				if test.want > 0 {
					require.Equal(t, test.want, time.Since(began))
					return
				}
				require.Equal(t, healthyTimeout, time.Since(stale.State.Since))
				require.GreaterOrEqual(t, time.Since(began), test.outage+healthyTimeout)
			})
		})
	}
}

// TestServerIsAskedOnce checks when a read asks the server. If the result of a write is unknown, the read must ask at
// once. Otherwise, it must ask after a second. It must not ask again.
func TestServerIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSchedule(t, 1, 30*time.Second)
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}
		get := func() error { return s.client.Get(s.Context(), client.ObjectKeyFromObject(object), object.DeepCopy()) }
		asked := func() int {
			return len(s.server.Requests(func(r lwtest.Request) bool { return r.URL.Query().Get("limit") == "1" && lwtest.Lists(r) }))
		}
		require.True(t, apierrors.IsNotFound(get()))
		require.NoError(t, s.client.Create(s.Context(), object))
		require.NoError(t, get())
		before := asked()
		// The read must wait for the resourceVersion of the object. It must not wait for the resourceVersion of the
		// list, which is newer.
		_, err := s.server.Put("nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
		require.NoError(t, err)
		for _, f := range s.client.(*consistentClient).followers(object) {
			f.record(client.ObjectKeyFromObject(object), write{number: 1000}, 0)
		}
		began := time.Now()
		require.NoError(t, get())
		require.Zero(t, time.Since(began))
		require.Equal(t, 1, asked()-before)
		s.server.StallWatches(true)
		object.Labels = map[string]string{"k": "v"}
		require.NoError(t, s.client.Update(s.Context(), object))
		began = time.Now()
		require.ErrorAs(t, get(), new(*StaleReadError))
		require.Equal(t, healthyTimeout, time.Since(began))
		require.Equal(t, 2, asked()-before)
		s.server.StallWatches(false)
	})
}
