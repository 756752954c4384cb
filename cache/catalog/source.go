package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// scope describes the objects that a collection follows. Its zero value follows nothing. A scope is replaced instead of
// changed. Therefore a comparison of pointers shows whether a scope is still current.
type scope struct {
	info TypeInfo
	gone bool  // the server no longer has the type, so the stream must remove all objects from the store
	err  error // why the type cannot be followed, or nil
	// clients contains a client for each followed namespace. The key "" stands for all namespaces. If the map is empty but
	// not nil, the server denies access to all namespaces. The stream then only removes the objects of deleted namespaces.
	clients map[string]*lw.Client[Packed]
	// exist contains the server's namespaces, or is nil if they are unknown. Objects in a namespace that exists stay in the
	// store even if the scope lacks the namespace.
	exist map[string]bool
	// listed is true if the stream has begun to list this scope, or its objects were restored from a file. Before that,
	// the stream must not resume a watch, because the stored objects belong to another scope. Only collection.Run uses
	// listed, so it needs no lock.
	listed bool
}

// covers reports whether the scope includes all these namespaces.
func (s *scope) covers(namespaces []string) bool {
	return !slices.ContainsFunc(namespaces, func(namespace string) bool { return s.clients[namespace] == nil })
}

// mayHave reports whether an object that the scope does not cover may still exist.
func (s *scope) mayHave(object Packed) bool {
	return !s.gone && (s.exist == nil || s.exist[object.GetNamespace()])
}

// namespaces returns the namespaces of the scope, or nil if it is not limited to namespaces.
func (s *scope) namespaces() []string {
	if s.clients[""] != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.clients))
}

// source is the ListerWatcher of one type. Between two streams, collection.follow may replace the source's scope. The
// new scope can have another API version or other namespaces. If the type was deleted, the new scope is empty. The next
// stream relists, so that the informer reports the difference. Only the goroutine of collection.Run uses a source, so
// it needs no lock.
type source struct {
	described, merged lw.Source[Packed] // results of Source for a scope with all namespaces, and for other scopes
	scope             *scope
	store             *cache.Store[Packed]
	versions          map[string]string // resourceVersion that the watch of each namespace has reached

	// unchecked contains the namespaces for which merge must find out whether the server was rebuilt.
	unchecked map[string]bool

	// opening is true until a merged watch has opened the watches of all namespaces, and merge then calls opened. Before
	// that, an event of one namespace makes the stream live, but the collection may miss changes in the others.
	opening atomic.Bool
	opened  func()
}

// scopeChanged ends the first watch of a new scope. It makes the stream relist and makes the store compare all objects.
// The comparison is needed because an object has different JSON in another API version, but the same resourceVersion.
type scopeChanged struct{}

func (scopeChanged) Error() string {
	return "the catalog follows the type in another version or in other namespaces, or the server no longer has it"
}

// Is implements the interface of errors.Is.
func (scopeChanged) Is(target error) bool {
	return target == lw.ErrExpired || target == lw.ErrInconsistent
}

// errDenied ends each watch of a scope without any namespaces.
var errDenied = fmt.Errorf("%w to all namespaces", lw.ErrForbidden)

// Source implements [lw.ListerWatcher]. Only a stream of all namespaces can request streaming lists, because merge does
// not support them.
func (s *source) Source() *lw.Source[Packed] {
	if s.scope.clients[""] != nil {
		return &s.described
	}
	return &s.merged
}

// version returns the lowest resourceVersion that the watch of any namespace has reached. A watch of all namespaces can
// resume from it without missing a change.
func (s *source) version() (low string) {
	for _, version := range s.versions {
		if order, ok := lw.CompareResourceVersions(version, low); low == "" || ok && order < 0 {
			low = version
		}
	}
	return cmp.Or(low, s.store.ResourceVersion(), "1") // a deleted type has no namespaces, but a list needs a resourceVersion
}

// List implements [lw.ListerWatcher]. Before a stream resumes a watch, it may request a single object to find out
// whether the server was rebuilt. Only such a check has the limit 1, because the catalog does not set Options.PageSize.
//
// A check of several namespaces always succeeds. One object could not show that all namespaces are unchanged, so merge
// checks each namespace.
func (s *source) List(ctx context.Context, opts lw.ListOptions) *lw.Page[Packed] {
	check := opts.Limit == 1
	s.scope.listed = s.scope.listed || !check
	if client := s.scope.clients[""]; client != nil {
		return client.List(ctx, opts.PassLookup(s, client))
	}
	page := new(lw.Page[Packed])
	page.Objects = func(yield func(Packed, error) bool) {
		if check {
			s.unchecked = map[string]bool{}
			for namespace := range s.scope.clients {
				s.unchecked[namespace] = true
			}
			if !yield(unversioned{}, nil) {
				return
			}
		} else if !s.list(ctx, opts, yield) {
			return
		}
		page.ResourceVersion = s.version()
	}
	return page
}

// list lists each namespace of the scope. It returns false after an error. It also yields the stored objects that may
// still exist in other namespaces, because the informer would delete them if the list did not contain them.
func (s *source) list(ctx context.Context, opts lw.ListOptions, yield func(Packed, error) bool) bool {
	opts.Limit = 0 // so that each list has only one page
	versions := map[string]string{}
	for namespace, client := range s.scope.clients {
		page := client.List(ctx, opts.PassLookup(s, client))
		for object, err := range page.Objects {
			_, undecoded := errors.AsType[*lw.DecodeError](err)
			if !yield(object, err) || err != nil && !undecoded {
				return false
			}
		}
		versions[namespace] = page.ResourceVersion
	}
	for _, object := range s.store.List() {
		if s.scope.clients[object.GetNamespace()] == nil && s.scope.mayHave(object) && !yield(object, nil) {
			return false
		}
	}
	s.versions, s.unchecked = versions, nil
	return true
}

// unversioned is an object that makes a check succeed. It has no resourceVersion, so it proves nothing about the store.
type unversioned struct{ Packed }

func (unversioned) GetNamespace() string       { return "" }
func (unversioned) GetName() string            { return "" }
func (unversioned) GetResourceVersion() string { return "" }

// verify compares the store with the first object of a namespace, or with nil if the namespace is empty. version is the
// resourceVersion of the stored objects. The comparison follows [lw.Held.Verify].
func (s *source) verify(namespace, version string, first lw.Keyed) bool {
	if first == nil {
		return !slices.ContainsFunc(s.store.List(), func(object Packed) bool { return object.GetNamespace() == namespace })
	}
	order, ordered := lw.CompareResourceVersions(first.GetResourceVersion(), version)
	if !ordered {
		return true
	}
	object, found := s.store.Get(lw.KeyOf(first))
	if found && object.GetUID() != first.(Packed).GetUID() {
		return false
	}
	return order > 0 || found && object.GetResourceVersion() == first.GetResourceVersion()
}

// Watch implements [lw.ListerWatcher].
func (s *source) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[Packed], error] {
	s.scope.listed = s.scope.listed || opts.SendInitialEvents
	return func(yield func(lw.Event[Packed], error) bool) {
		client := s.scope.clients[""]
		s.opening.Store(client == nil && !s.scope.gone)
		switch {
		case !s.scope.listed:
			yield(lw.Event[Packed]{}, scopeChanged{})
		case client != nil:
			client.Watch(ctx, opts.PassLookup(s, client))(yield)
		case len(s.scope.clients) == 0 && !s.scope.gone:
			yield(lw.Event[Packed]{}, errDenied)
		default:
			s.merge(ctx, opts, yield)
		}
	}
}

// merge watches each namespace of the scope with its own stream, and yields their events as one watch. If the watch of
// a stream is closed cleanly, the stream resumes. Any other interruption of a stream ends the merged watch, so that the
// collection becomes stale.
func (s *source) merge(ctx context.Context, opts lw.ListOptions, yield func(lw.Event[Packed], error) bool) {
	type received struct {
		namespace string
		event     lw.Event[Packed]
	}
	// The streams resume forever, but a watch must end after opts.Timeout.
	ctx, stop := context.WithTimeout(ctx, opts.Timeout)
	options := &lw.Options{LabelSelector: opts.LabelSelector, FieldSelector: opts.FieldSelector, Warn: silent}
	events, from := make(chan received), s.versions
	var streams sync.WaitGroup
	defer streams.Wait()
	defer stop()
	s.versions = map[string]string{}
	for namespace, client := range s.scope.clients {
		// from is empty after a restart, because a saved state has only one resourceVersion.
		held := lw.Held{ResourceVersion: cmp.Or(from[namespace], s.store.ResourceVersion())}
		s.versions[namespace] = held.ResourceVersion
		if s.unchecked[namespace] {
			held.Verify = func(first lw.Keyed) bool { return s.verify(namespace, held.ResourceVersion, first) }
		}
		streams.Go(func() {
			for event := range lw.Resume(ctx, &impatient{client}, held, options) {
				if !send(ctx, events, received{namespace, event}) {
					return
				}
			}
		})
	}
	// A deleted type has no streams that could report the start of the watch.
	if s.scope.gone && !yield(lw.Event[Packed]{Type: lw.WatchStarted, ResourceVersion: s.version()}, nil) {
		return
	}
	for open := map[string]bool{}; ; {
		opened := false
		var next received
		select {
		case next = <-events:
		case <-ctx.Done():
			return
		}
		event, err := next.event, error(nil)
		if event.ResourceVersion != "" {
			s.versions[next.namespace] = event.ResourceVersion
		}
		event.ResourceVersion = s.version()
		switch event.Type {
		case lw.Interrupted:
			err = event.Interruption.Err
			if goesOn(event.Interruption) {
				continue
			}
			if s.unchecked[next.namespace] && watchesUnchecked(event.Interruption) {
				delete(s.unchecked, next.namespace) // so that the next failure counts, because it concerns the watch
				continue
			}
		case lw.ListStarted: // the stream of the namespace relists, so the merged watch must relist, too
			err = lw.ErrExpired
		case lw.WatchStarted:
			delete(s.unchecked, next.namespace)
			if open[next.namespace] = true; len(open) < len(s.scope.clients) {
				continue
			}
			opened = s.opening.Swap(false)
		case lw.Added, lw.Modified, lw.Deleted:
			if s.outdated(event.Object) {
				event = lw.Event[Packed]{Type: lw.Bookmark, ResourceVersion: event.ResourceVersion}
			}
		case lw.DecodeFailed:
			err = event.Err
		}
		if !yield(event, err) || err != nil && event.Type != lw.DecodeFailed {
			return
		}
		if opened {
			s.opened() // because the stream does not yield WatchStarted again if it is live already
		}
	}
}

// watchesUnchecked reports whether a stream goes on with a watch although its check has failed or has timed out. For
// example, a server may serve watches from its cache while etcd is down. If the server itself is down, the stream repeats
// the check instead.
func watchesUnchecked(i *lw.Interruption) bool {
	status, answered := errors.AsType[*lw.StatusError](i.Err)
	return !i.Relist && (answered && status.Code != 502 && (status.Code != 503 || status.RetryAfter > 0) || errors.Is(i.Err, lw.ErrSilent))
}

// impatient is a client whose checks time out after requestTimeout. The merged watch starts only when all namespaces are
// checked. The usual idle timeout would end the merged watch before it starts, and the type would stay stale.
type impatient struct{ *lw.Client[Packed] }

// List implements [lw.ListerWatcher].
func (c *impatient) List(ctx context.Context, opts lw.ListOptions) *lw.Page[Packed] {
	if opts.Limit != 1 { // only a check has the limit 1
		return c.Client.List(ctx, opts)
	}
	ctx, stop := context.WithTimeoutCause(ctx, requestTimeout, lw.ErrSilent)
	page := c.Client.List(ctx, opts)
	objects := page.Objects
	page.Objects = func(yield func(Packed, error) bool) {
		defer stop()
		objects(func(object Packed, err error) bool {
			if err != nil {
				err = cmp.Or(context.Cause(ctx), err) // after ErrSilent, the stream watches without a check
			}
			return yield(object, err)
		})
	}
	return page
}

// outdated reports whether the store has a newer version of an object. Saved collections have only the lowest
// resourceVersion of all namespaces, so the watches of the other namespaces receive some events again.
func (s *source) outdated(object Packed) bool {
	held, ok := s.store.Get(lw.KeyOf(object))
	if !ok {
		return false
	}
	order, ok := lw.CompareResourceVersions(object.GetResourceVersion(), held.GetResourceVersion())
	return ok && order < 0
}

// silent drops warnings, because the stream of the type reports the interruptions of its namespaces.
func silent(string, ...any) {}
