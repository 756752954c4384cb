package scenarios

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache"
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

// Run runs every scenario in each mode. Scenarios that must run alone, for example because they stop the server, run
// first, one after another. The others then run in parallel.
func Run(t *testing.T, c *Cluster) {
	minor := (&run{T: t, Cluster: c}).minorVersion()
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
					r := &run{T: t, Cluster: c, mode: m, alone: s.alone, minor: minor}
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
	json  bool // requests objects that Cluster.Protobuf cannot decode, so modes with protobuf are skipped
}{
	{name: "ThousandRandomWrites", run: thousandRandomWrites},
	{name: "PagedList", run: pagedList, pages: true},
	{name: "WatchEndsByTimeout", run: watchEndsByTimeout},
	{name: "ConnectionBreaks", run: connectionBreaks},
	{name: "ResourceVersionExpiresWhileDisconnected", run: resourceVersionExpiresWhileDisconnected, alone: true},
	{name: "ContinueTokenExpires", run: continueTokenExpires, pages: true, alone: true},
	{name: "ServerKilledAndRestarted", run: serverKilledAndRestarted, alone: true},
	{name: "WrongTokenReturns401", run: func(r *run) {
		rejected(r, following{token: "no-such-token"}, http.StatusUnauthorized, lw.ErrUnauthorized)
	}},
	{name: "MissingPermissionReturns403", run: func(r *run) {
		rejected(r, following{token: r.NobodyToken}, http.StatusForbidden, lw.ErrForbidden)
	}},
	{name: "UnknownResourceReturns404", run: func(r *run) {
		rejected(r, following{resource: lw.Resource{Group: "no.example.com", Version: "v1", Plural: "nothings"}}, http.StatusNotFound, lw.ErrNotFound)
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

// thousandRandomWrites checks that a watch delivers all changes of a busy collection without an interruption.
func thousandRandomWrites(r *run) {
	f := r.follow(following{})
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
	require.Zero(r, f.broke(nil))
	f.stop()
	require.Len(r, f.fold, len(names))
}

// inPages removes resourceVersion "0" from the query of a client's first list, so that the server pages the list. With
// resourceVersion "0", a server with a watch cache ignores the limit.
func inPages(q query) {
	if q.Get("resourceVersion") == "0" {
		q.Del("resourceVersion")
	}
}

// pagedList checks that a list of 1,200 objects in at least 12 pages is complete.
func pagedList(r *run) {
	r.create(1200, "page-")
	f := r.follow(following{Options: lw.Options{PageSize: 100}, edit: inPages})
	f.equal(r.configMaps())
	f.stop()
	require.GreaterOrEqual(r, f.link.requests("limit", "100"), 12)
	require.Equal(r, 1, f.syncs)
}

// watchEndsByTimeout checks that the informer resumes without a list when the server ends a watch.
func watchEndsByTimeout(r *run) {
	f := r.follow(following{edit: func(q query) {
		if q.Has("watch") {
			q.Set("timeoutSeconds", "2")
		}
	}})
	for i := range 2 {
		r.write(http.MethodPost, r.configMaps(), configMap("cm-"+strconv.Itoa(i), "demo", "v"))
		r.eventually("the watch ends", func() bool { return f.broke(lw.ErrWatchClosed) > i })
	}
	f.equal(r.configMaps())
	f.stop()
	require.Equal(r, 1, f.syncs)
}

// connectionBreaks checks that the next watch delivers the changes that happened while the client was disconnected,
// without a list.
func connectionBreaks(r *run) {
	f := r.populate(20)
	for round := range 2 {
		f.cut()
		r.write(http.MethodDelete, r.configMaps("cm-"+strconv.Itoa(round)), "")
		r.write(http.MethodPatch, r.configMaps("cm-10"), `{"data":{"k":"round `+strconv.Itoa(round)+`"}}`)
		f.link.mend()
		f.equal(r.configMaps())
	}
	f.stop()
	require.GreaterOrEqual(r, f.broke(errCut), 2)
	require.Equal(r, 1, f.syncs)
	require.Zero(r, f.missed())
}

// cut drops the connection and waits until the follower reports the interruption.
func (f *follower) cut() {
	known := f.broke(errCut)
	f.link.cut(errCut)
	f.eventually("the disconnect is reported", func() bool { return f.broke(errCut) > known })
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
	f := r.populate(50)
	r.create(5, "by-watch-") // the follower receives these objects from its watch, and the others from its list
	f.equal(r.configMaps())
	before := len(f.received())
	f.cut()
	for i := range 10 {
		r.write(http.MethodDelete, r.configMaps("cm-"+strconv.Itoa(i)), "")
	}
	r.write(http.MethodPatch, r.configMaps("cm-20"), `{"data":{"k":"changed"}}`)
	r.create(5, "new-")
	r.disturb(r.Expire)
	f.link.mend()
	f.equal(r.configMaps())
	f.stop()
	require.GreaterOrEqual(r, f.broke(lw.ErrExpired), 1)
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
	f := r.follow(following{Options: lw.Options{PageSize: 10}, edit: func(q query) {
		inPages(q)
		if q.Has("continue") {
			once.Do(func() { close(between); <-proceed })
		}
	}})
	<-between
	r.write(http.MethodDelete, r.configMaps("cm-0"), "")
	r.disturb(r.Expire)
	close(proceed)
	f.equal(r.configMaps())
	require.Equal(r, 1, f.broke(lw.ErrExpired))
	require.Equal(r, 39, f.informer.Store().Len())
	f.stop()
	require.Equal(r, 1, f.syncs)
}

// serverKilledAndRestarted checks that the informer recovers when the server loses its connections but keeps its data.
func serverKilledAndRestarted(r *run) {
	f := r.populate(20)
	r.disturb(r.Kill)
	r.eventually("the interruption is reported", func() bool { return f.broke(nil) > 0 })
	require.NoError(r, r.Start(r.Context()))
	r.write(http.MethodDelete, r.configMaps("cm-3"), "")
	r.create(5, "new-")
	f.equal(r.configMaps())
}

// resumesFromSavedState checks that an informer resumes from saved objects without a list. If the saved resourceVersion
// has expired, it relists and reports only the differences.
func resumesFromSavedState(r *run) {
	f := r.populate(20)
	f.stop()
	var saved bytes.Buffer
	require.NoError(f, cache.Save(&saved, f.informer.Store().Snapshot(), f.origin(), (*lw.Object).Raw))
	r.write(http.MethodDelete, r.configMaps("cm-0"), "")
	r.write(http.MethodPatch, r.configMaps("cm-1"), `{"data":{"k":"changed"}}`)
	r.create(2, "new-")

	resumed := r.follow(following{state: saved.Bytes()})
	resumed.equal(r.configMaps())
	resumed.stop()
	require.Zero(r, resumed.syncs)
	require.Zero(r, resumed.lists())
	require.Len(r, resumed.changes, 20+1+1+2) // restored, deleted, modified and new objects

	r.disturb(r.Expire)
	late := r.follow(following{state: saved.Bytes()})
	late.equal(r.configMaps())
	late.stop()
	require.Equal(r, 1, late.broke(lw.ErrExpired))
	require.Equal(r, 1, late.syncs)
	require.Len(r, late.changes, 20+1+1+2, "the informer must report only the differences")
	require.Equal(r, 1, late.missed())
}

func (f *follower) origin() string { return f.URL + " " + f.ns + "/configmaps" }

// lists returns the number of lists, including streaming lists, that the follower has requested. It does not count
// checks, which request a single object.
func (f *follower) lists() int {
	return f.link.requests("watch", "") + f.link.requests("sendInitialEvents", "true") - f.link.requests("limit", "1")
}
