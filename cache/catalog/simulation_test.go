package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// world is a server whose types, access and availability change at random.
type world struct {
	t      *testing.T
	random *rand.Rand
	server *lwtest.Server
	log    []string
	exists map[string]bool // the types that the server has

	mu        sync.Mutex
	forbidden map[string]bool // "plural" or "namespace/plural"
	down      map[string]bool // with the key "server", every request fails
	broken    map[string]bool // plurals whose requests fail with 503
	slow      map[string]bool // plurals whose requests take 10 seconds
	sent      []time.Time     // when each request arrived
}

var namespaces = []string{"a", "b", "c"}

// refused reports whether the server denies a request.
func (w *world) refused(r lwtest.Request) bool {
	namespace, plural, ok := collectionOf(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	return ok && (namespace == "" && w.forbidden[plural] || namespace != "" && w.forbidden[plural] && w.forbidden[namespace+"/"+plural])
}

func (w *world) fails(r lwtest.Request) bool {
	_, plural, ok := collectionOf(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down["server"] || ok && w.broken[plural]
}

// delays reports whether the server is slow to answer a request. It also records the request.
func (w *world) delays(r lwtest.Request) bool {
	_, plural, ok := collectionOf(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, time.Now())
	return ok && w.slow[plural]
}

func delay(w http.ResponseWriter, r *http.Request, server http.Handler) {
	select {
	case <-time.After(10 * time.Second):
		server.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// hidden returns the types whose state is Live although the catalog does not watch them.
func (w *world) hidden(c *catalog.Catalog) map[catalog.Type]time.Time {
	synctest.Wait()
	watched := map[string]bool{}
	for _, r := range w.server.Open(lwtest.Watches) {
		_, plural, _ := collectionOf(r)
		watched[plural] = true
	}
	hidden := map[catalog.Type]time.Time{}
	for _, s := range c.Statuses() {
		w.mu.Lock()
		slow := w.slow[s.Resource] // the server may not have answered the request for the next watch yet
		w.mu.Unlock()
		if s.State == catalog.Live && !watched[s.Resource] && !slow {
			hidden[s.Type] = s.Since
		}
		require.Equal(w.t, s.State >= catalog.Stale, s.State >= catalog.Stale && s.Cause != nil, "%s is %s without a cause", s.Type, s.State)
	}
	return hidden
}

// checkHidden requires that each failed watch is reported within two seconds. Until then, the catalog may be reopening
// a watch that was closed cleanly.
func (w *world) checkHidden(c *catalog.Catalog) {
	before := w.hidden(c)
	if len(before) == 0 {
		return
	}
	time.Sleep(2 * time.Second)
	for of, since := range w.hidden(c) {
		require.NotEqual(w.t, before[of], since, "%s is not watched", of)
	}
}

// checkBudget fails the test if the requests in any second exceeded the budget.
func (w *world) checkBudget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for first := range w.sent {
		for d := 1; first+100+50*d < len(w.sent) && d < 60; d++ {
			took := w.sent[first+100+50*d].Sub(w.sent[first])
			require.GreaterOrEqual(w.t, took, time.Duration(d)*time.Second-20*time.Millisecond, "%d requests in %v", 100+50*d, took)
		}
	}
}

// collectionOf returns the collection that a list or watch request addresses. ok is false for other requests.
func collectionOf(r lwtest.Request) (namespace, plural string, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) < 3 || parts[0] == "apis" && len(parts) < 4 {
		return "", "", false
	}
	if parts[0] == "apis" {
		parts = parts[1:]
	}
	if parts = parts[2:]; len(parts) == 3 && parts[0] == "namespaces" {
		return parts[1], parts[2], true
	}
	return "", parts[0], len(parts) == 1
}

const customTypes = 6

// define adds the custom type with number i, or changes its version.
func define(server *lwtest.Server, i int, version string) {
	addType(server, fmt.Sprintf("thing%ds.example.com", i), version, fmt.Sprintf("Thing%d", i))
}

// step makes one random change.
func (w *world) step() {
	i := w.random.IntN(customTypes)
	plural := fmt.Sprintf("thing%ds", i)
	id := plural + ".example.com"
	namespace := namespaces[w.random.IntN(len(namespaces))]
	flip := func(of map[string]bool, name string) string {
		w.mu.Lock()
		defer w.mu.Unlock()
		of[name] = !of[name]
		return fmt.Sprint(name, " ", of[name])
	}
	did := ""
	switch w.random.IntN(15) {
	case 0:
		version := []string{"v1", "v2"}[w.random.IntN(2)]
		define(w.server, i, version)
		w.exists[id] = true
		did = "add " + id + " " + version
	case 1:
		w.server.Delete(definitions, "", id) // fails if the type does not exist
		w.exists[id] = false
		did = "remove " + id
	case 2:
		did = "forbid " + flip(w.forbidden, plural)
	case 3:
		did = "forbid " + flip(w.forbidden, namespace+"/"+plural)
	case 4:
		did = "break " + flip(w.broken, plural)
	case 5:
		did = "down " + flip(w.down, "server")
		w.server.DropConnections()
	case 6:
		w.server.DropConnections()
		did = "drop"
	case 7:
		w.server.Compact()
		w.server.CloseWatches()
		did = "compact"
	case 8, 9:
		w.server.Delete(id, namespace, strconv.Itoa(w.random.IntN(4)))
		did = "delete " + id
	case 10:
		did = "slow " + flip(w.slow, plural)
	default:
		w.server.Put(id, map[string]any{"metadata": map[string]any{"namespace": namespace, "name": strconv.Itoa(w.random.IntN(4))}, "n": w.random.IntN(1000)})
		did = "put " + id
	}
	w.log = append(w.log, did)
}

// heal ends all faults.
func (w *world) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.forbidden)
	clear(w.broken)
	clear(w.slow)
	clear(w.down)
}

// fold contains the objects that result from applying the changes of one loop.
type fold struct {
	t       *testing.T
	objects map[catalog.Ref]*lw.Object
}

func (f *fold) apply(change catalog.Change) {
	switch change.Type {
	case lw.Added:
		ref := catalog.Ref{Type: change.Resource, Key: lw.KeyOf(change.New)}
		require.Nil(f.t, f.objects[ref], "%s was added twice", ref)
		f.objects[ref] = change.New
	case lw.Modified:
		ref := catalog.Ref{Type: change.Resource, Key: lw.KeyOf(change.New)}
		require.NotNil(f.t, f.objects[ref], "%s was modified before it was added", ref)
		f.objects[ref] = change.New
	case lw.Deleted:
		ref := catalog.Ref{Type: change.Resource, Key: lw.KeyOf(change.Old)}
		require.NotNil(f.t, f.objects[ref], "%s was deleted before it was added", ref)
		delete(f.objects, ref)
	}
}

// TestCatalogEqualsServerAfterFaults runs 20 seeds with 170 changes each. The environment variable SEEDS sets the
// number of seeds, and SEED the first seed.
func TestCatalogEqualsServerAfterFaults(t *testing.T) {
	seeds := 20
	if text := os.Getenv("SEEDS"); text != "" {
		var err error
		seeds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	first, _ := strconv.Atoi(os.Getenv("SEED"))
	for seed := first; seed < first+seeds; seed++ {
		if !t.Run(strconv.Itoa(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { simulate(t, uint64(seed)) }) }) {
			return
		}
	}
}

func simulate(t *testing.T, seed uint64) {
	opts := &catalog.Options{Namespaces: namespaces, Warn: func(string, ...any) {}}
	server, c := start(t, opts)
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 0)), server: server, forbidden: map[string]bool{}, broken: map[string]bool{}, slow: map[string]bool{}, down: map[string]bool{}, exists: map[string]bool{}}
	server.Fail(w.delays, 1<<30, delay)
	server.Fail(w.fails, 1<<30, lwtest.Refuse(&lw.StatusError{Code: 503, Reason: "ServiceUnavailable", Message: "down"}))
	server.Fail(w.refused, 1<<30, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden", Message: "forbidden"}))
	for i := range customTypes / 2 {
		define(server, i, "v1")
		w.exists[fmt.Sprintf("thing%ds.example.com", i)] = true
	}
	ctx, stop := context.WithCancel(t.Context())
	var tasks sync.WaitGroup
	tasks.Go(func() { c.Run(ctx) })
	var mu sync.Mutex
	f := &fold{t: t, objects: map[catalog.Ref]*lw.Object{}}
	tasks.Go(func() {
		for change := range c.Changes(ctx, &cache.HandlerOptions[*lw.Object]{Policy: cache.Policy(seed % 3), Capacity: 2}) {
			mu.Lock()
			f.apply(change)
			mu.Unlock()
		}
	})
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(w.log, "\n"))
		}
	}()
	for i := range 170 {
		w.step()
		if i%10 == 0 {
			w.checkHidden(c)
		}
		time.Sleep(time.Duration(w.random.ExpFloat64() * float64([]time.Duration{time.Millisecond, time.Second, 5 * time.Second}[w.random.IntN(3)])))
	}
	w.heal()
	time.Sleep(6 * time.Minute)
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	w.checkBudget()

	for _, status := range c.Statuses() {
		w.log = append(w.log, fmt.Sprintf("STATUS %s %s %s %s since %s %v objects %d namespaces %v", status.Type, status.Version, status.State, status.Cause, time.Since(status.Since), status.Cause, status.Objects, status.Namespaces))
	}
	snapshot := c.Snapshot()
	known := map[catalog.Type]bool{}
	for info := range snapshot.Types() {
		known[info.Type] = true
	}
	types := []catalog.Type{{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}}
	w.exists[definitions] = true
	for i := range customTypes {
		types = append(types, catalog.Type{Group: "example.com", Resource: fmt.Sprintf("thing%ds", i)})
	}
	present := 0
	for _, of := range types {
		require.Equal(t, w.exists[of.String()], known[of], "%s", of)
		if !known[of] {
			continue
		}
		_, objects := server.State(of.String())
		listed, err := snapshot.List(of, "", "")
		require.NoError(t, err)
		found, bytes := 0, 0
		for ref, object := range listed {
			want := objects[strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")]
			require.NotNil(t, want, "%s does not exist on the server", ref)
			require.Equal(t, want.GetResourceVersion(), object.GetResourceVersion(), "%s", ref)
			require.NotNil(t, f.objects[ref], "%s is missing in the changes", ref)
			require.Equal(t, object.Raw(), f.objects[ref].Raw())
			found++
			bytes += len(object.Raw())
		}
		require.Len(t, objects, found, "%s", of)
		status := statusOf(c, of)
		require.Equal(t, []int{found, bytes}, []int{status.Objects, int(status.Bytes)}, "%s", of)
		present += found
	}
	require.Len(t, f.objects, present)
	for _, status := range c.Statuses() {
		require.Equal(t, catalog.Live, status.State, "%s: %v", status.Type, status.Cause)
	}
	require.NoError(t, c.WaitSynced(ctx))
	stop()
	tasks.Wait()
	synctest.Wait() // the server notices the end of the watches
	require.Empty(t, server.Open(lwtest.Watches))
}
