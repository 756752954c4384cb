package scenarios

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

type query = url.Values

// mode selects the protocols that a scenario uses.
type mode struct {
	name      string
	streaming bool // uses streaming lists
	websocket bool // sends watches over WebSocket
	protobuf  bool // requests ConfigMaps as protobuf
}

var modes = []mode{
	{name: "StreamingLists", streaming: true},
	{name: "Lists"},
	{name: "WebSocketStreamingLists", streaming: true, websocket: true},
	{name: "WebSocket", websocket: true},
	{name: "ProtobufStreamingLists", streaming: true, protobuf: true},
	{name: "ProtobufLists", protobuf: true},
}

// Run runs every scenario in each mode. Scenarios that stop the server run first, one after another. The others
// then run in parallel.
func Run(t *testing.T, c *Cluster) {
	for _, m := range modes {
		if m.protobuf && c.Protobuf == nil {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			for _, s := range table {
				if m.streaming && s.pages || m.protobuf && s.json {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					if !s.alone {
						t.Parallel() // starts after the scenarios that must run alone
					}
					r := &run{T: t, Cluster: c, ctx: t.Context(), mode: m, alone: s.alone}
					r.ns = r.namespace()
					s.run(r)
				})
			}
		})
	}
}

var table = []struct {
	name  string
	run   func(*run)
	pages bool // requires pagination, so modes with streaming lists are skipped
	alone bool // stops the server or follows all namespaces, so it must not run in parallel
	json  bool // skipped in modes with protobuf
}{
	{name: "ThousandRandomWrites", run: thousandRandomWrites},
	{name: "PagedList", run: pagedList, pages: true},
	{name: "WatchEndsByTimeout", run: watchEndsByTimeout},
	{name: "ConnectionBreaks", run: connectionBreaks},
	{name: "ResourceVersionExpiresWhileDisconnected", run: resourceVersionExpiresWhileDisconnected, alone: true},
	{name: "ContinueTokenExpires", run: continueTokenExpires, pages: true, alone: true},
	{name: "ServerKilledAndRestarted", run: serverKilledAndRestarted, alone: true},
	{name: "WrongTokenReturns401", run: func(r *run) {
		rejected(r, ConfigMaps(r.ns), "no-such-token", http.StatusUnauthorized, lw.ErrUnauthorized)
	}},
	{name: "MissingPermissionReturns403", run: func(r *run) {
		rejected(r, ConfigMaps(r.ns), r.NobodyToken, http.StatusForbidden, lw.ErrForbidden)
	}},
	{name: "UnknownResourceReturns404", run: func(r *run) {
		rejected(r, lw.Resource{Group: "no.example.com", Version: "v1", Plural: "nothings"}, r.AdminToken, http.StatusNotFound, lw.ErrNotFound)
	}},
	{name: "AllNamespaces", run: allNamespaces, alone: true},
	{name: "CustomResource", run: customResource, json: true},
	{name: "OneObjectByName", run: oneObjectByName},
	{name: "LabelSelector", run: labelSelector},
	{name: "SameObjectByListAndWatch", run: sameObjectByListAndWatch},
	{name: "MetadataOnly", run: metadataOnly, json: true},
	{name: "PodBinding", run: binding},
	{name: "ResumesFromSavedState", run: resumesFromSavedState, alone: true},
}

func thousandRandomWrites(r *run) {
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, nil, nil)
	random := rand.New(rand.NewPCG(1, 2))
	names := map[string]bool{}
	for i := range 1000 {
		name := "cm-" + strconv.Itoa(random.IntN(150))
		switch {
		case !names[name]:
			r.write(http.MethodPost, r.configMaps(), configMap(name, "demo", strconv.Itoa(i)))
			names[name] = true
		case random.IntN(3) == 0:
			r.write(http.MethodDelete, r.configMaps(name), "")
			delete(names, name)
		default:
			r.write(http.MethodPatch, r.configMaps(name), `{"data":{"k":"`+strconv.Itoa(i)+`"}}`)
		}
	}
	f.equal(r.configMaps())
	require.Len(r, f.fold, len(names))
	require.Zero(r, f.broke(func(*lw.Interruption) bool { return true }))
}

// inPages changes the query of a client's first list, which requests resourceVersion "0". A server with a watch cache
// then ignores the limit, but without a resourceVersion it pages the list.
func inPages(q query) {
	if q.Get("resourceVersion") == "0" {
		q.Del("resourceVersion")
	}
}

// pagedList checks that a list of 1,200 objects in at least 12 pages is complete.
func pagedList(r *run) {
	r.create(1200, "page-")
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, &lw.Options{PageSize: 100}, inPages)
	f.equal(r.configMaps())
	require.GreaterOrEqual(r, f.link.requests("limit", "100"), 12)
	require.Equal(r, 1, f.syncs)
}

// watchEndsByTimeout checks that the informer resumes without a list when the server ends a watch.
func watchEndsByTimeout(r *run) {
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, nil, func(q query) {
		if q.Has("watch") {
			q.Set("timeoutSeconds", "2")
		}
	})
	for i := 0; f.broke(is(lw.ErrWatchClosed)) < 2; i++ {
		r.write(http.MethodPost, r.configMaps(), configMap("cm-"+strconv.Itoa(i), "demo", "v"))
		seen := f.broke(is(lw.ErrWatchClosed))
		r.eventually("the watch ends", func() bool { return f.broke(is(lw.ErrWatchClosed)) > seen })
	}
	f.equal(r.configMaps())
	require.Equal(r, 1, f.syncs)
}

// connectionBreaks checks that the next watch delivers the changes that happened while the client was disconnected,
// without a list.
func connectionBreaks(r *run) {
	r.create(20, "cm-")
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, nil, nil)
	f.equal(r.configMaps())
	for round := range 2 {
		f.cut()
		r.write(http.MethodDelete, r.configMaps("cm-"+strconv.Itoa(round)), "")
		r.write(http.MethodPatch, r.configMaps("cm-10"), `{"data":{"k":"round `+strconv.Itoa(round)+`"}}`)
		f.link.mend()
		f.equal(r.configMaps())
	}
	require.GreaterOrEqual(r, f.broke(is(errCut)), 2)
	require.Equal(r, 1, f.syncs)
	require.Zero(r, f.missed())
}

// cut drops the connection and waits until the follower reports the interruption.
func (f *follower) cut() {
	known := f.broke(is(errCut))
	f.link.cut(errCut)
	f.eventually("the disconnect is reported", func() bool { return f.broke(is(errCut)) > known })
}

// missed returns how many deletions have an unknown final state.
func (f *follower) missed() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.changes {
		if d.FinalStateUnknown {
			n++
		}
	}
	return n
}

// resourceVersionExpiresWhileDisconnected checks that the informer relists and reports only the differences.
func resourceVersionExpiresWhileDisconnected(r *run) {
	r.create(50, "cm-")
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, nil, nil)
	f.equal(r.configMaps())
	r.create(5, "by-watch-") // objects that the follower received from the watch
	f.equal(r.configMaps())
	before := len(f.changes)
	f.cut()
	for i := range 10 {
		r.write(http.MethodDelete, r.configMaps("cm-"+strconv.Itoa(i)), "")
	}
	r.write(http.MethodPatch, r.configMaps("cm-20"), `{"data":{"k":"changed"}}`)
	r.create(5, "new-")
	r.disturb(r.Expire)
	f.link.mend()
	f.equal(r.configMaps())
	require.GreaterOrEqual(r, f.broke(is(lw.ErrExpired)), 1)
	require.GreaterOrEqual(r, f.syncs, 2)
	require.Equal(r, 10, f.missed())
	require.Len(r, f.changes[before:], 10+1+5, "the informer must report only the differences")
	for _, d := range f.changes[before:] {
		require.Equal(r, d.Type == lw.Deleted, d.FinalStateUnknown)
	}
}

// continueTokenExpires checks that the informer needs only one relist if the continue token expires between two pages.
func continueTokenExpires(r *run) {
	r.create(40, "cm-")
	between, proceed := make(chan bool), make(chan bool)
	var once sync.Once
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, &lw.Options{PageSize: 10}, func(q query) {
		inPages(q)
		if q.Has("continue") {
			once.Do(func() { close(between); <-proceed })
		}
	})
	<-between
	r.write(http.MethodDelete, r.configMaps("cm-0"), "")
	r.disturb(r.Expire)
	close(proceed)
	f.equal(r.configMaps())
	require.Equal(r, 1, f.broke(is(lw.ErrExpired)))
	require.Equal(r, 39, f.informer.Store().Len())
	require.Equal(r, 1, f.syncs)
}

func serverKilledAndRestarted(r *run) {
	r.create(20, "cm-")
	f := r.follow(ConfigMaps(r.ns), r.AdminToken, nil, nil)
	f.equal(r.configMaps())
	r.disturb(r.Kill)
	r.eventually("the interruption is reported", func() bool { return f.broke(func(*lw.Interruption) bool { return true }) > 0 })
	require.NoError(r, r.Start(r.ctx))
	r.write(http.MethodDelete, r.configMaps("cm-3"), "")
	r.create(5, "new-")
	f.equal(r.configMaps())
}
