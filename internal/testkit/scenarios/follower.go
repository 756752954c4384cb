package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

// follower runs an informer and applies its changes to the field fold. The test fails if a change contradicts the fold.
type follower struct {
	*run
	link     *link
	informer *cache.Informer[*lw.Object]

	// While the informer runs, mu protects these fields. A scenario reads them through methods, or after stop.
	mu      sync.Mutex
	fold    map[lw.Key]*lw.Object
	changes []cache.Change[*lw.Object] // all changes so far
	breaks  []*lw.Interruption         // all interruptions so far
	syncs   int                        // number of completed lists

	stop context.CancelFunc // ends the run and waits until it has ended
	done chan struct{}      // closed when the run has ended
}

// following describes a follower. Zero fields get defaults.
type following struct {
	lw.Options
	resource     lw.Resource // default: the scenario's ConfigMaps
	token        string      // bearer token; default: the administrator's
	edit         func(query) // changes the query of each request; may be nil
	metadataOnly bool
	state        []byte // saved objects to resume from
}

// follow starts a follower and stops it when the test ends.
func (r *run) follow(what following) *follower {
	r.Helper()
	if what.resource == (lw.Resource{}) {
		what.resource = configMaps(r.ns)
	}
	over, err := lwhttp.New(r.URL, r.Connect(cmp.Or(what.token, r.AdminToken)))
	require.NoError(r, err)
	r.Cleanup(over.Close)
	link := &link{Transport: over, edit: what.edit}
	if r.websocket {
		link.Transport = lwws.New(over)
	}
	link.mend()
	codec := lw.Codec[*lw.Object](lw.RawCodec{})
	if r.protobuf {
		codec = r.Protobuf
	}
	client, err := lw.NewClient(link, what.resource, codec, &lw.ClientOptions{Protobuf: r.protobuf, MetadataOnly: what.metadataOnly})
	require.NoError(r, err)
	what.NoStreamingList = !r.streaming
	f := &follower{run: r, link: link, informer: cache.NewInformer(client, &what.Options), fold: map[lw.Key]*lw.Object{}, done: make(chan struct{})}
	if what.state != nil {
		require.NoError(r, f.informer.Restore(bytes.NewReader(what.state), f.origin(), lw.ParseObject))
	}
	ctx, cancel := context.WithCancel(f.Context())
	f.stop = func() {
		cancel()
		<-f.done
	}
	go func() {
		defer close(f.done)
		for event, changes := range f.informer.Follow(ctx) {
			f.step(event, changes)
		}
	}()
	f.Cleanup(f.stop)
	return f
}

// step records an event and its changes.
func (f *follower) step(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch event.Type {
	case lw.Interrupted:
		f.breaks = append(f.breaks, event.Interruption)
		f.Logf("interrupted: %v (delay %v, relist %v)", event.Interruption.Err, event.Interruption.Delay, event.Interruption.Relist)
	case lw.Synced:
		f.syncs++
	}
	f.changes = append(f.changes, changes...)
	for _, change := range changes {
		f.apply(change)
	}
}

// apply applies a change to the map f.fold. It fails the test if the change contradicts the map.
func (f *follower) apply(d cache.Change[*lw.Object]) {
	object := d.New
	if d.Type == lw.Deleted {
		object = d.Old
	}
	held := f.fold[lw.KeyOf(object)]
	switch {
	case (held != nil) == (d.Type == lw.Added):
		f.Errorf("the %v change for %v contradicts the earlier changes (object known: %v)", d.Type, lw.KeyOf(object), held != nil)
	case d.Type == lw.Modified && d.Old != held:
		f.Errorf("the Modified change for %v has the wrong old object", lw.KeyOf(object))
	case d.Type == lw.Modified && d.New.GetResourceVersion() == held.GetResourceVersion():
		f.Errorf("the Modified change for %v does not change the resourceVersion", lw.KeyOf(object))
	case d.Type == lw.Deleted:
		delete(f.fold, lw.KeyOf(object))
		return
	}
	f.fold[lw.KeyOf(object)] = object
}

// populate creates n ConfigMaps and returns a follower that has received them.
func (r *run) populate(n int) *follower {
	r.Helper()
	r.create(n, "cm-")
	f := r.follow(following{})
	f.equal(r.configMaps())
	return f
}

// received returns all changes so far.
func (f *follower) received() []cache.Change[*lw.Object] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// isLive reports whether a watch is open.
func (f *follower) isLive() bool { return f.informer.State().Phase == lw.Live }

// broke returns the number of interruptions with this cause, or of all interruptions if cause is nil. It does not count
// interruptions whose cause is that the server has no streaming lists.
func (f *follower) broke(cause error) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.breaks {
		status, _ := errors.AsType[*lw.StatusError](b.Err)
		// Kubernetes enables streaming lists by default in 1.32 and from 1.34 on. Other versions reject them with 422.
		rejected := (f.minor < 32 || f.minor == 33) && status != nil && status.Code == http.StatusUnprocessableEntity
		if !rejected && (cause == nil || errors.Is(b.Err, cause)) {
			n++
		}
	}
	return n
}

// equal waits until the store and the map f.fold contain the objects that the server lists at path. It then compares
// the objects' content.
func (f *follower) equal(path string) {
	f.Helper()
	var want, got map[string]map[string]any
	f.eventually("the store and the applied changes match the server, and a watch is open", func() bool {
		want = f.server(path)
		f.mu.Lock()
		defer f.mu.Unlock()
		objects := f.informer.Store().List()
		var items []string
		for _, object := range objects {
			items = append(items, object.Raw())
		}
		got = byKey(f, `{"items":[`+strings.Join(items, ",")+"]}")
		// The store may contain changes that step has not yet applied to fold.
		applied := !slices.ContainsFunc(objects, func(object *lw.Object) bool { return f.fold[lw.KeyOf(object)] != object })
		return f.isLive() && applied && len(f.fold) == len(objects) && maps.EqualFunc(want, got, sameVersion)
	})
	require.Equal(f, want, got)
}

func sameVersion(a, b map[string]any) bool {
	return a["metadata"].(map[string]any)["resourceVersion"] == b["metadata"].(map[string]any)["resourceVersion"]
}

var errCut = errors.New("the scenario cut the connection")

// link is a transport that records the query of each request and can drop its connections.
type link struct {
	lw.Transport
	edit func(url.Values) // changes the query of each request; may be nil

	mu    sync.Mutex
	asked []url.Values            // the query of each request, before edit has changed it
	open  context.Context         // done while the link is cut
	cut   context.CancelCauseFunc // cancels all requests in progress; new requests fail until mend is called
}

// mend restores the connection after cut. A new link also needs a call of mend before it can connect.
func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.cut = context.WithCancelCause(context.Background())
}

func (l *link) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	query, _ := url.ParseQuery(req.Query) // cannot fail, because the client has encoded the query
	l.mu.Lock()
	l.asked = append(l.asked, maps.Clone(query))
	open := l.open
	l.mu.Unlock()
	if open.Err() != nil {
		return nil, errCut
	}
	changed := *req
	if l.edit != nil {
		l.edit(query)
		changed.Query = query.Encode()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(open, func() { cancel(errCut) })
	return l.Transport.Open(ctx, &changed)
}

// requests returns the number of requests with the query parameter name=value.
func (l *link) requests(name, value string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, query := range l.asked {
		if query.Get(name) == value {
			n++
		}
	}
	return n
}
