package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/savefile"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// State says how current the objects of a type are.
type State uint8

const (
	// Waiting means that the first list has not started, or that it is retried because the server cannot be reached. It is
	// also the state of a type that the server does not have yet.
	Waiting State = iota
	// Listing means that the first list is in progress.
	Listing
	// Live means that a watch is open.
	Live
	// Stale means that the watch is broken, or that the objects were restored and the server has not confirmed them yet.
	Stale
	// Forbidden means that the server denies access (401 or 403). Objects that were listed before stay.
	Forbidden
	// Unavailable means that the server rejects lists of the type or fails to serve them, for example because an
	// aggregated API server is down. Objects that were listed before stay.
	Unavailable
	// Gone means that the server no longer has the type, so that its objects were deleted.
	Gone
)

var stateNames = [...]string{"waiting", "listing", "live", "stale", "forbidden", "unavailable", "gone"}

// String returns the name of the state in lower case, for example "live".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// failed reports whether a first list in this state may never complete.
func (s State) failed() bool { return s == Forbidden || s == Unavailable || s == Gone }

// Status describes the collection of one type.
type Status struct {
	TypeInfo
	State State
	Since time.Time // when the state began
	Cause error     // why the state is not Live, or nil

	Objects         int
	Bytes           int64  // size of all objects in memory, without indexes
	ResourceVersion string // resourceVersion of the objects, or "" before the first list

	// Namespaces lists the namespaces that the catalog follows if the server does not permit all. Denied lists those that
	// the catalog has tried and the server does not permit.
	Namespaces, Denied []string
}

// collection follows one type.
type collection struct {
	catalog  *Catalog
	settings Settings
	codec    *codec
	source   *source
	informer *cache.Informer[element]
	explicit bool // Add has added the type, so that it stays without being discovered

	// The catalog's lock guards the following fields.
	info      TypeInfo
	scope     *scope
	state     State
	since     time.Time
	cause     error
	complete  bool // a list or a restored state is complete
	synced    bool // the server has confirmed a complete state
	denied    []string
	probing   bool            // probe is running
	probed    bool            // probe has tried all namespaces
	ctx       context.Context // context of the run, or nil
	stop      context.CancelFunc
	interrupt context.CancelFunc // ends the run of the current scope
	stopped   chan struct{}      // closed when the run has ended
	slot      func()             // frees the slot of the first list
	changes   map[*subscriber]*cache.Registration[element]
	byUID     *cache.Index[element, string] // created when it is first used
	byOwner   *cache.Index[element, string]
}

func (c *Catalog) newCollection(of Type, settings Settings) (*collection, error) {
	n := &collection{catalog: c, settings: settings, info: TypeInfo{Type: of}, since: time.Now(), scope: &scope{}, changes: map[*subscriber]*cache.Registration[element]{}, slot: func() {}, interrupt: func() {}}
	var err error
	if n.codec, err = newCodec(&settings, c.limit); err != nil {
		return nil, fmt.Errorf("catalog: %s: %w", of, err)
	}
	n.source = &source{described: lw.Source[element]{Name: of.String(), StreamsLists: true, Identity: n.codec.Identity()}}
	n.source.described.Share(&c.server)
	n.informer = cache.NewInformer(lw.ListerWatcher[element](n.source), &lw.Options{
		LabelSelector: settings.LabelSelector, FieldSelector: settings.FieldSelector, Warn: c.opts.Warn,
	})
	n.source.held = n.informer.Store().List
	return n, nil
}

// wanted returns the namespaces to follow if the server permits it. The namespace "" stands for all.
func (n *collection) wanted(info TypeInfo) []string {
	if info.Namespaced && len(n.settings.Namespaces) > 0 {
		return n.settings.Namespaces
	}
	return []string{""}
}

// scopeOf returns the scope that follows these namespaces of the type. The namespace "" stands for all.
func (n *collection) scopeOf(info TypeInfo, namespaces ...string) (*scope, error) {
	in := &scope{info: info, clients: map[string]*lw.Client[element]{}}
	for _, namespace := range namespaces {
		resource := lw.Resource{Group: info.Group, Version: info.Version, Plural: info.Resource, Namespace: namespace}
		client, err := lw.NewClient(n.catalog.transport, resource, lw.Codec[element](n.codec), &lw.ClientOptions{MetadataOnly: n.settings.MetadataOnly})
		if err != nil {
			return nil, err
		}
		in.clients[namespace] = client
	}
	return in, nil
}

// use replaces the scope. The caller must hold the catalog's lock.
func (n *collection) use(next *scope) {
	n.scope = next
	n.interrupt()
}

// start runs the informer until stop is called. The caller must hold the catalog's lock.
func (n *collection) start(ctx context.Context) {
	if n.ctx != nil {
		return
	}
	n.ctx, n.stop = context.WithCancel(ctx)
	n.stopped = make(chan struct{})
	if !n.scope.gone && !n.scope.covers(n.wanted(n.info)) && !n.probing { // the last run has ended while the server denied access to some namespaces
		n.probing = true
		n.catalog.tasks.Go(n.probe)
	}
	n.catalog.tasks.Go(func() {
		defer close(n.stopped)
		for n.ctx.Err() == nil {
			var in *scope
			var informer *cache.Informer[element]
			var ctx context.Context
			n.catalog.locked(func() {
				in, informer = n.scope, n.informer
				ctx, n.interrupt = context.WithCancel(n.ctx)
			})
			n.run(ctx, in, informer)
		}
	})
}

// run follows a scope until it is replaced or the collection stops.
func (n *collection) run(ctx context.Context, in *scope, informer *cache.Informer[element]) {
	if n.source.version == "" {
		n.source.version = "1" // of a type that is deleted before its first list
	}
	n.source.scope = in
	path, origin := n.file(in)
	if path != "" && informer.Store().ResourceVersion() == "" && n.restore(informer, path, origin) {
		in.listed = true
	} else {
		free := n.catalog.lists.acquire(ctx)
		defer free()
		n.catalog.locked(func() { n.slot = free })
	}
	trace := *lw.ContextTrace(ctx)
	report := trace.Event
	trace.Event = func(event lw.Event[lw.Keyed]) {
		if report != nil {
			report(event)
		}
		n.observe(event, in)
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var saving sync.WaitGroup
	if path != "" {
		saving.Go(func() {
			savefile.Keep(keeping, path, informer.Store(), origin, func(e element) string { return objectOf(e).Raw() }, saveInterval, n.catalog.report)
		})
	}
	_ = informer.Run(lw.WithTrace(ctx, &trace)) // ctx is the only cause of its end
	stop()
	saving.Wait()
}

// saveInterval is the time between two saves of a collection.
const saveInterval = time.Minute

// file returns the path of the file for the objects of a scope, and a string that identifies them. The path is empty if the
// objects are not saved.
func (n *collection) file(in *scope) (path, origin string) {
	if n.catalog.opts.StateDir == "" || !in.wide() {
		return "", ""
	}
	return filepath.Join(n.catalog.opts.StateDir, in.info.String()+".state"),
		fmt.Sprintln(in.info.Type, in.info.Version, n.settings.MetadataOnly, strings.Join(n.settings.Fields, " "))
}

func (n *collection) restore(to *cache.Informer[element], path, origin string) bool {
	err := savefile.Restore(path, to, origin, n.codec.parse)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.catalog.report(err)
	}
	return err == nil
}

// observe updates the state after an event of the stream.
func (n *collection) observe(event lw.Event[lw.Keyed], in *scope) {
	n.catalog.mu.Lock()
	defer n.catalog.mu.Unlock()
	if in != n.scope {
		return // the run is about to end
	}
	state, cause := n.state, n.cause
	switch event.Type {
	default:
		return
	case lw.ListStarted:
		if !n.complete {
			state = Listing
		}
	case lw.Restored:
		n.complete, state = true, Stale
	case lw.Synced:
		n.complete, n.synced = true, true
		n.slot()
	case lw.WatchStarted:
		n.complete, n.synced, state, cause = true, true, Live, nil
		n.slot()
	case lw.Interrupted:
		if errors.Is(event.Interruption.Err, lw.ErrWatchClosed) && !event.Interruption.Relist {
			return // every watch ends after some minutes, and the next one follows at once
		}
		cause = event.Interruption.Err
		state = stateAfter(cause, n.complete)
		n.slot()
	}
	if in.gone {
		if state != Live {
			return
		}
		state, cause = Gone, errNoType
	}
	n.set(state, cause)
	if event.Type == lw.Interrupted {
		n.react(cause)
	}
}

// react looks for a remedy after an interruption. The caller must hold the catalog's lock.
func (n *collection) react(cause error) {
	switch {
	case errors.Is(cause, lw.ErrNotFound):
		n.catalog.rediscover(settleFor)
	case errors.Is(cause, lw.ErrForbidden) && n.info.Namespaced && !n.probing:
		n.probing, n.probed = true, false
		n.catalog.tasks.Go(n.probe)
	}
}

// probeInterval is the time between two attempts to find the namespaces that the server permits.
const probeInterval = 30 * time.Second

// probe follows the namespaces that the server permits, until it permits all of them again.
func (n *collection) probe() {
	c, ctx := n.catalog, n.ctx
	defer c.locked(func() { n.probing = false })
	for ; ctx.Err() == nil; wait(ctx, probeInterval) {
		var in *scope
		var live bool
		c.locked(func() { in, live = n.scope, n.state == Live })
		wanted := n.wanted(in.info)
		if in.gone || in.covers(wanted) && live {
			return
		}
		var allowed, denied []string
		if wanted[0] == "" && !in.wide() && n.permitted(ctx, in.info, "") {
			allowed = wanted
		} else {
			candidates := wanted
			if wanted[0] == "" {
				candidates = c.candidates(ctx)
			}
			for _, namespace := range candidates {
				if n.permitted(ctx, in.info, namespace) {
					allowed = append(allowed, namespace)
				} else {
					denied = append(denied, namespace)
				}
			}
		}
		next, err := n.scopeOf(in.info, allowed...)
		c.locked(func() {
			if ctx.Err() != nil || err != nil || n.scope != in {
				return
			}
			n.denied, n.probed = denied, true
			if len(allowed) > 0 && !slices.Equal(next.followed(), in.followed()) {
				n.use(next)
				n.set(Waiting, nil)
			}
			c.changed(n)
		})
	}
}

// permitted reports whether the server permits lists of the type in a namespace. "" stands for all namespaces.
func (n *collection) permitted(ctx context.Context, info TypeInfo, namespace string) bool {
	in, err := n.scopeOf(info, namespace)
	if err != nil {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	for _, err := range in.clients[namespace].List(ctx, lw.ListOptions{Limit: 1}).Objects {
		if err != nil {
			return false
		}
	}
	return true
}

// set changes the state. The caller must hold the catalog's lock.
func (n *collection) set(state State, cause error) {
	if state != n.state {
		n.since = time.Now()
	}
	n.state, n.cause = state, cause
	n.catalog.changed(n)
}

// stateAfter returns the state after an interruption.
func stateAfter(cause error, complete bool) State {
	status, answered := errors.AsType[*lw.StatusError](cause)
	switch {
	case errors.Is(cause, lw.ErrForbidden), errors.Is(cause, lw.ErrUnauthorized):
		return Forbidden
	case answered && (status.Code == http.StatusNotFound || status.Code == http.StatusMethodNotAllowed):
		return Unavailable
	case complete:
		return Stale
	case answered && status.Code != http.StatusTooManyRequests:
		return Unavailable
	}
	return Waiting
}

// bytes returns the size of the objects. The caller must hold the catalog's lock.
func (n *collection) bytes() (total int64) {
	for _, object := range n.informer.Store().List() {
		total += object.size()
	}
	return total
}

// status returns the status. The caller must hold the catalog's lock.
func (n *collection) status() Status {
	store := n.informer.Store()
	return Status{
		TypeInfo: n.info, State: n.state, Since: n.since, Cause: n.cause, Objects: store.Len(), Bytes: n.bytes(),
		ResourceVersion: store.ResourceVersion(), Namespaces: n.scope.followed(), Denied: n.denied,
	}
}

// queued reports whether a subscriber has not received all changes yet. The caller must hold the catalog's lock.
func (n *collection) queued() bool {
	for _, r := range n.changes {
		if r.Len() > 0 {
			return true
		}
	}
	return false
}

// end stops the collection, which the catalog has forgotten, and waits until its stream has ended.
func (n *collection) end() {
	n.catalog.mu.Lock()
	n.unsubscribe()
	stop, stopped := n.stop, n.stopped
	n.catalog.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
}

// unsubscribe removes all subscribers. The caller must hold the catalog's lock.
func (n *collection) unsubscribe() {
	for s, r := range n.changes {
		r.Remove()
		delete(n.changes, s)
	}
}

// drop frees the objects because of the cause, and stops the stream. The caller must hold the catalog's lock.
func (n *collection) drop(cause error) {
	n.unsubscribe()
	if n.stop != nil {
		n.stop()
	}
	n.informer = cache.NewInformer(lw.ListerWatcher[element](n.source), nil)
	n.byUID, n.byOwner = nil, nil
	n.set(Unavailable, cause)
}
