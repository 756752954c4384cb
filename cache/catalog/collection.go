package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
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
	// Waiting means that the first list has not started yet, for example because discovery has not ended. It can also
	// mean that the first list is retried because the server cannot be reached.
	Waiting State = iota
	// Listing means that the first list is in progress.
	Listing
	// Live means that a watch is open, or that the next one is being opened because the server has closed the last one
	// cleanly.
	Live
	// Stale means that the watch is broken, or that the objects were restored and the server has not confirmed them
	// yet.
	Stale
	// Forbidden means that the server denies access (401 or 403). Objects that were listed before stay, except those in
	// deleted namespaces.
	Forbidden
	// Unavailable means that the server rejects lists of the type or fails to serve them, for example because an
	// aggregated API server is down. Objects that were listed before stay, unless the cause is a [*LimitError].
	Unavailable
	// Gone means that the server does not have the type, so its objects are gone too.
	Gone
)

var stateNames = [...]string{"waiting", "listing", "live", "stale", "forbidden", "unavailable", "gone"}

// String returns the name of the state in lower case, for example "live".
func (s State) String() string {
	return stateNames[s]
}

// Status describes the collection of one type.
type Status struct {
	TypeInfo
	State State
	Since time.Time // when the state began
	Cause error     // why the state is not Live, or nil

	Objects         int
	Bytes           int64  // size of all objects in memory, without indexes
	ResourceVersion string // resourceVersion of the objects, or "" before the first list

	// Namespaces lists the followed namespaces. It is nil if the catalog follows all namespaces, or none because the server
	// denies them all. Denied lists the namespaces that the catalog has tried, but that the server does not permit it to
	// list.
	Namespaces, Denied []string
}

// collection follows one type. It is a member of the catalog's group.
//
// Discovery and probes choose the scope, which selects the objects to follow. Run then adopts a new scope: it ends the
// stream of the old scope and starts another stream with the same store, so that subscribers receive only the
// differences.
type collection struct {
	*cache.Informer[Packed]
	catalog        *Catalog
	name           string // name of the type, for example "deployments.apps"
	settings       Settings
	codec          codec
	source         *source
	byUID, byOwner func() *cache.Index[Packed, string] // create an index when it is first used, because many programs need none

	// The catalog's lock guards the following fields.
	explicit  bool // Add has added the type, so it stays even if discovery does not find it
	info      TypeInfo
	scope     *scope                  // the scope to follow
	running   *scope                  // the scope that Run has adopted; differs from scope until Run notices the change
	interrupt context.CancelCauseFunc // ends the stream of the running scope
	changes   map[*subscriber]*cache.Registration[Packed]
	removed   chan struct{} // closed by Remove, so that no handler waits for a loop that itself waits for Remove
	synced    bool          // the server has confirmed a complete state since the type last appeared
	probed    bool          // probe has tried the namespaces since the server denied access; until then, WaitSynced waits
	nextProbe time.Time     // when to probe again
	denied    []string      // Status.Denied
	state     State         // decide derives it from the scope and from the state of the informer
	cause     error
	since     time.Time
	reported  string // state, cause and namespaces in the last status, as text
	revision  int    // increases when reported changes, so that StatusChanges yields the new status
}

func (c *Catalog) newCollection(of Type, settings Settings) (*collection, error) {
	coding, err := newCodec(&settings)
	if err != nil {
		return nil, fmt.Errorf("catalog: %s: %w", of, err)
	}
	if file := of.String() + stateExtension; !filepath.IsLocal(file) || strings.ContainsAny(file, `/\`) {
		return nil, fmt.Errorf("catalog: %q is not a name of a type: it would lead to a file outside of Options.StateDir", of)
	}
	s := &source{scope: &scope{}}
	s.described = lw.Source[Packed]{Name: of.String(), StreamsLists: true, Identity: coding.Identity()}
	s.merged = lw.Source[Packed]{Name: of.String(), Identity: coding.Identity()}
	s.described.Share(&c.server)
	informer := cache.NewInformer(lw.ListerWatcher[Packed](s), &lw.Options{
		LabelSelector: settings.LabelSelector, FieldSelector: settings.FieldSelector, Warn: c.opts.Warn,
	})
	s.store = informer.Store()
	n := &collection{
		Informer: informer, catalog: c, name: of.String(), settings: settings, codec: coding, source: s,
		byUID:   sync.OnceValue(func() *cache.Index[Packed, string] { return cache.NewIndex(s.store, uidOf) }),
		byOwner: sync.OnceValue(func() *cache.Index[Packed, string] { return cache.NewIndex(s.store, ownersOf) }),
		info:    TypeInfo{Type: of}, scope: s.scope, running: s.scope, interrupt: func(error) {}, since: time.Now(), revision: 1,
		changes: map[*subscriber]*cache.Registration[Packed]{}, removed: make(chan struct{}),
	}
	s.opened = func() { n.observe(lw.Event[Packed]{Type: lw.WatchStarted}, s.scope) }
	return n, nil
}

// wanted returns the namespaces to follow, provided that the server permits the catalog to list them. The namespace ""
// stands for all.
func (n *collection) wanted(info TypeInfo) []string {
	if info.Namespaced && len(n.settings.Namespaces) > 0 {
		return n.settings.Namespaces
	}
	return []string{""}
}

// scopeOf returns the scope that follows these namespaces of the type. The namespace "" stands for all.
func (n *collection) scopeOf(info TypeInfo, namespaces ...string) *scope {
	in := &scope{info: info, clients: map[string]*lw.Client[Packed]{}}
	for _, namespace := range namespaces {
		resource := lw.Resource{Group: info.Group, Version: info.Version, Plural: info.Resource, Namespace: namespace}
		client, err := lw.NewClient(n.catalog.transport, resource, lw.Codec[Packed](n.codec), &lw.ClientOptions{
			MetadataOnly: n.settings.MetadataOnly, KeepManagedFields: n.codec.managed,
		})
		if err != nil {
			return &scope{info: info, err: fmt.Errorf("catalog: %w", err)}
		}
		in.clients[namespace] = client
	}
	return in
}

// discovered follows the type in info.Version. It keeps a scope with an error, because the type was dropped due to
// Options.MaxBytes, or its client cannot be created. The caller must hold the catalog's lock.
func (n *collection) discovered(info TypeInfo) {
	in := n.scope
	n.info = info
	if in.gone || in.err == nil && (in.info.Version != info.Version || in.info.Kind != info.Kind || in.info.Namespaced != info.Namespaced) {
		n.use(n.scopeOf(info, n.wanted(info)...))
	}
}

// use replaces the scope. The caller must hold the catalog's lock.
func (n *collection) use(next *scope) {
	n.synced = n.synced && !n.scope.gone // a deleted type that returns must be synced again
	n.scope = next
	n.interrupt(scopeChanged{})
	n.update()
}

// update decides the state again and reports the new status. The caller must hold the catalog's lock.
func (n *collection) update() {
	before := n.state
	if n.state, n.cause = n.decide(); n.state != before {
		n.since = time.Now()
	}
	if n.state == Live && n.scope.covers(n.wanted(n.info)) {
		n.probed, n.denied = false, nil
	}
	if status := fmt.Sprint(n.state, n.cause, n.scope.namespaces(), n.denied); status != n.reported {
		n.reported = status
		n.revision++
	}
	n.catalog.broadcast() // even without a new revision, because WaitSynced also depends on other fields
}

// decide returns the state and its cause.
func (n *collection) decide() (State, error) {
	stream := n.State()
	if n.running != n.scope {
		stream = lw.State{Phase: lw.Stopped, Cause: scopeChanged{}}
	}
	status, answered := errors.AsType[*lw.StatusError](stream.Cause)
	switch {
	case n.scope.gone && n.running == n.scope && n.Store().Len() == 0:
		return Gone, errNoType
	case n.scope.gone: // the objects have not been reported as deleted yet
		return Unavailable, errNoType
	case n.scope.err != nil:
		return Unavailable, n.scope.err
	case stream.Phase == lw.Live && n.source.opening.Load():
		return n.state, n.cause // the state does not change until all namespaces are watched
	case stream.Phase == lw.Live:
		return Live, nil
	case stream.Phase == lw.Listing:
		return Listing, stream.Cause
	case isForbidden(stream.Cause):
		return Forbidden, stream.Cause
	// Before the first sync, other error responses count too, because otherwise WaitSynced could block forever. Status
	// 429 does not, because it only asks the client to wait.
	case answered && (status.Code == http.StatusNotFound || status.Code == http.StatusMethodNotAllowed || !n.synced && status.Code != http.StatusTooManyRequests):
		return Unavailable, stream.Cause
	case n.Store().ResourceVersion() != "" || stream.Phase == lw.Stale:
		return Stale, stream.Cause
	}
	return Waiting, stream.Cause
}

func isForbidden(err error) bool {
	return errors.Is(err, lw.ErrForbidden) || errors.Is(err, lw.ErrUnauthorized)
}

// restricted reports whether probe must look for namespaces that the server permits the catalog to list. This is so if
// the server denies the current scope, or if the scope lacks wanted namespaces. The caller must hold the catalog's
// lock.
func (n *collection) restricted() bool {
	in := n.scope
	return in.clients != nil && (n.state == Forbidden && in.info.Namespaced || !in.covers(n.wanted(in.info)))
}

// pending reports whether WaitSynced waits for the collection. The caller must hold the catalog's lock.
func (n *collection) pending() bool {
	emptying := n.scope.gone && n.state != Gone
	return n.restricted() && !n.probed || emptying || !n.synced && !n.failed() && n.state != Gone
}

// failed reports whether the first list may never complete. A type that the server does not have counts as failed only
// if it was added with Add. The caller must hold the catalog's lock.
func (n *collection) failed() bool {
	return n.state == Forbidden || n.state == Unavailable || n.state == Gone && n.explicit
}

// Run follows one scope after the other until ctx is done. Only the group calls it.
func (n *collection) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		var in *scope
		running, stop := context.WithCancelCause(ctx)
		n.catalog.locked(func() {
			in, n.running, n.interrupt = n.scope, n.scope, stop
			n.update()
		})
		if in.gone || in.clients != nil { // otherwise there is nothing to follow until the scope is replaced
			n.follow(running, in)
		}
		<-running.Done()
		stop(nil)
	}
	n.catalog.locked(n.update)
	return context.Cause(ctx)
}

// Synced returns a closed channel, because the group waits for it before it starts discovery. A first list may never
// complete.
func (n *collection) Synced() <-chan struct{} { return n.catalog.always }

// follow follows a scope until ctx is done.
func (n *collection) follow(ctx context.Context, in *scope) {
	if n.source.scope != in {
		n.source.scope, n.source.versions = in, nil // the store may be newer than the versions that an earlier scope has reached
	}
	path, origin := n.file(in)
	if in.gone {
		_ = os.Remove(path) // the type may return without these objects
	} else if path != "" && n.Store().ResourceVersion() == "" {
		err := savefile.Restore(path, n.Informer, origin, n.codec.parse)
		if in.listed = err == nil; !in.listed && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, cache.ErrForeign) {
			n.catalog.report(err)
		}
	}
	free := func() {}
	if !in.listed && len(in.clients) > 0 && !n.settings.hidden {
		free = n.catalog.awaitSlot(ctx)
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx)) // outlives the stream, so that the last save is complete
	var saving sync.WaitGroup
	save := sync.OnceFunc(func() {
		if path != "" && len(in.clients) > 0 {
			saving.Go(func() {
				savefile.Keep(keeping, path, n.Store(), origin, func(e Packed) string { return e.Object().Raw() }, saveInterval, n.catalog.report)
			})
		}
	})
	if in.listed { // otherwise, the store may contain the objects of the previous scope, which must not get this origin
		save()
	}
	for event := range n.Follow(ctx) {
		switch event.Type {
		case lw.Added, lw.Modified, lw.Deleted:
			if slices.Contains(definitions, in.info.Type) {
				n.catalog.redefined(n, event)
			}
			n.catalog.limit(event.Object.Size())
		case lw.ListStarted, lw.Restored, lw.Synced, lw.WatchStarted, lw.Interrupted:
			n.observe(event, in)
			if event.Type == lw.Synced {
				save()
			}
			if event.Type != lw.ListStarted { // even after a failure, because the retries of one type must not hold up the others
				free()
			}
		}
	}
	free()
	stop()
	saving.Wait()
}

// observe updates the state after an event of the stream.
func (n *collection) observe(event lw.Event[Packed], in *scope) {
	n.catalog.mu.Lock()
	defer n.catalog.mu.Unlock()
	switch event.Type {
	case lw.Synced, lw.WatchStarted:
		// A run with an outdated scope is about to end.
		n.synced = n.synced || in == n.scope && (event.Type == lw.Synced || !n.source.opening.Load())
	case lw.Interrupted:
		cause := event.Interruption.Err
		if goesOn(event.Interruption) {
			return
		}
		if errors.Is(cause, lw.ErrNotFound) { // discovery must find out soon whether the type is gone
			n.catalog.settleUntil = time.Now().Add(settleFor)
		}
	}
	n.update()
}

// goesOn reports whether a watch has ended only because servers close every watch after some minutes. The next watch
// then follows almost immediately, so the type stays Live.
func goesOn(i *lw.Interruption) bool {
	return errors.Is(i.Err, lw.ErrWatchClosed) && !i.Relist && i.Delay <= time.Second
}

// stateExtension is the end of the name of each file in Options.StateDir.
const stateExtension = ".state"

// saveInterval is the time between two saves of a collection. After a crash, the next run receives the changes since
// the last save again.
const saveInterval = time.Minute

// file returns the path of the file for the objects of a scope. The path is empty if the objects are not saved. origin
// contains the settings on which the objects depend, so that a file from other settings is not restored. It omits the
// selectors, because cache.Save and Restore compare them themselves.
func (n *collection) file(in *scope) (path, origin string) {
	if n.catalog.opts.StateDir == "" {
		return "", ""
	}
	return filepath.Join(n.catalog.opts.StateDir, n.name+stateExtension),
		fmt.Sprintln(in.info.Type, in.info.Version, n.settings.MetadataOnly, strings.Join(n.settings.Fields, " "), in.namespaces())
}

// probeInterval is the time between two attempts to find the namespaces that the server permits the catalog to list.
const probeInterval = 30 * time.Second

// probe finds out which namespaces the server permits the catalog to list, and follows them. The requests take a while
// and run without the lock. If the scope was replaced in the meantime, probe has no effect.
func (n *collection) probe(ctx context.Context, in *scope) {
	allowed, denied, exist := n.permitted(ctx, in)
	next := n.scopeOf(in.info, allowed...)
	next.exist = exist
	n.catalog.mu.Lock()
	defer n.catalog.mu.Unlock()
	n.nextProbe = time.Now().Add(probeInterval)
	if ctx.Err() != nil || n.scope != in {
		return
	}
	slices.Sort(denied)
	n.denied, n.probed = denied, true
	// The objects of a deleted namespace must go, too, even if the catalog did not follow this namespace.
	outdated := func(object Packed) bool { return next.clients[object.GetNamespace()] == nil && !next.mayHave(object) }
	same := len(next.clients) == 0 || len(next.clients) == len(in.clients) && in.covers(allowed)
	if !same || slices.ContainsFunc(n.Store().List(), outdated) {
		n.use(next)
	}
	n.update()
}

// permitted asks the server which namespaces the catalog may list. If a request fails for a reason other than a lack of
// access, it shows nothing about the namespace. The namespace is then allowed if the scope already contains it. exist
// contains the server's namespaces, or is nil if they are unknown.
func (n *collection) permitted(ctx context.Context, in *scope) (allowed, denied []string, exist map[string]bool) {
	permits := func(namespace string, client *lw.Client[Packed]) (ok, forbidden bool) {
		_, err := n.catalog.names(ctx, client, 1)
		return err == nil || !isForbidden(err) && in.clients[namespace] != nil, isForbidden(err)
	}
	candidates := n.wanted(in.info)
	if candidates[0] == "" {
		// A scope with all namespaces needs no check, because its own stream retries.
		if in.clients[""] == nil {
			if ok, _ := permits("", n.scopeOf(in.info, "").clients[""]); ok {
				return candidates, nil, nil
			}
		}
		if candidates = n.catalog.opts.Namespaces; len(candidates) == 0 {
			all := n.scopeOf(TypeInfo{Type: Type{Resource: "namespaces"}, Version: "v1"}, "")
			var err error
			if candidates, err = n.catalog.names(ctx, all.clients[""], 0); err != nil {
				candidates = in.namespaces() // the list failed, so check only the namespaces that are already followed
			} else if len(candidates) > 0 { // every cluster has namespaces, so an empty list shows nothing
				exist = map[string]bool{}
			}
		}
	}
	for namespace, client := range n.scopeOf(in.info, candidates...).clients {
		if exist != nil {
			exist[namespace] = true
		}
		if ok, forbidden := permits(namespace, client); ok {
			allowed = append(allowed, namespace)
		} else if forbidden {
			denied = append(denied, namespace)
		}
	}
	return allowed, denied, exist
}

// names returns the names of at most limit objects, or of all objects if limit is zero.
func (c *Catalog) names(ctx context.Context, of *lw.Client[Packed], limit int) (names []string, err error) {
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	if err := c.checks.Wait(ctx); err != nil {
		return nil, err
	}
	for object, failure := range of.List(ctx, lw.ListOptions{Limit: limit}).Objects {
		if err = failure; err == nil {
			names = append(names, object.GetName())
		}
	}
	return names, err
}

// status returns a Status that describes the collection now. The caller must hold the catalog's lock.
func (n *collection) status() Status {
	var bytes int64
	for _, object := range n.Store().List() {
		bytes += int64(object.Size())
	}
	return Status{
		TypeInfo: n.info, State: n.state, Since: n.since, Cause: n.cause, Objects: n.Store().Len(), Bytes: bytes,
		ResourceVersion: n.Store().ResourceVersion(), Namespaces: n.scope.namespaces(), Denied: n.denied,
	}
}

// queued reports whether any subscriber still has to receive a change. The caller must hold the catalog's lock.
func (n *collection) queued() bool {
	for _, r := range n.changes {
		if r.Len() > 0 {
			return true
		}
	}
	return false
}

// member returns the name of the collection in the group. It contains the address, because the group may still hold the
// old collection of a type when the type is added again.
func (n *collection) member() string { return fmt.Sprintf("%s %p", n.name, n) }

// unsubscribe removes a subscriber. The caller must hold the catalog's lock.
func (n *collection) unsubscribe(s *subscriber) {
	n.changes[s].Remove()
	delete(n.changes, s)
}

// forget removes the collection from the catalog. The caller must hold the catalog's lock.
func (n *collection) forget() {
	for s := range n.changes {
		n.unsubscribe(s)
	}
	delete(n.catalog.collections, n.info.Type)
	n.catalog.ended = append(n.catalog.ended, n)
	n.catalog.broadcast()
}
