package catalog

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// element is a stored object, either as text or packed. It is a pointer type, because programs that also use
// cache.Informer[*lw.Object] then need only one copy of the generic code.
type element = *stored

type stored struct {
	object *lw.Object // nil if packed is set
	packed Packed
}

// Packed is an object that is stored in another form than text, such as a [compact.Object].
//
// [compact.Object]: https://pkg.go.dev/github.com/seed-6d2a410a/listwatch/cache/compact#Object
type Packed interface {
	lw.Keyed
	GetUID() string
	Object() *lw.Object
	Size() int // in bytes
}

func (e *stored) keyed() interface {
	lw.Keyed
	GetUID() string
} {
	if e.packed != nil {
		return e.packed
	}
	return e.object
}

// GetNamespace implements [lw.Keyed].
func (e *stored) GetNamespace() string { return e.keyed().GetNamespace() }

// GetName implements [lw.Keyed].
func (e *stored) GetName() string { return e.keyed().GetName() }

// GetResourceVersion implements [lw.Keyed].
func (e *stored) GetResourceVersion() string { return e.keyed().GetResourceVersion() }

// objectOf returns the object of an element, or nil.
func objectOf(e element) *lw.Object {
	switch {
	case e == nil:
		return nil
	case e.packed != nil:
		return e.packed.Object()
	}
	return e.object
}

// size returns the size of an object in memory.
func (e *stored) size() int64 {
	if e.packed != nil {
		return int64(e.packed.Size())
	}
	return int64(len(e.object.Raw()))
}

// Pack returns a value for Settings.Pack. newCodec returns a new codec that stores the objects of another codec as T. For
// example, Pack(compact.NewCodec) compresses objects. All types that use the returned value share one codec, because a
// compressor needs about 1 MB. Call Pack several times if the objects of some types have little in common with others.
func Pack[T Packed](newCodec func(lw.Codec[*lw.Object]) lw.Codec[T]) func(lw.Codec[*lw.Object]) lw.Codec[Packed] {
	shared := new(packing[T])
	shared.packed = newCodec(shared)
	return func(text lw.Codec[*lw.Object]) lw.Codec[Packed] { return packedCodec[T]{shared, text} }
}

// packing is a codec that several types share. It decodes one object at a time.
type packing[T Packed] struct {
	mu                   sync.Mutex
	lw.Codec[*lw.Object] // decodes the current object as text, and is set before each use
	packed               lw.Codec[T]
}

// packedCodec is the codec of one type.
type packedCodec[T Packed] struct {
	shared *packing[T]
	text   lw.Codec[*lw.Object]
}

// Decode implements [lw.Codec].
func (c packedCodec[T]) Decode(s *lw.Scanned) (Packed, error) {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	c.shared.Codec = c.text
	return c.shared.packed.Decode(s)
}

// Identity implements [lw.Codec].
func (c packedCodec[T]) Identity() lw.Identity[Packed] {
	of := c.shared.packed.Identity()
	return lw.Identity[Packed]{
		Equal: func(a, b Packed) bool { return of.Equal(a.(T), b.(T)) },
		Same: func(e Packed, s *lw.Scanned) bool {
			c.shared.mu.Lock()
			defer c.shared.mu.Unlock()
			c.shared.Codec = c.text
			return of.Same(e.(T), s)
		},
	}
}

// codec decodes elements and reports the size of each.
type codec struct {
	text    text
	packed  lw.Codec[Packed] // nil unless Settings.Pack is set
	decoded func(bytes int64)
}

// text decodes objects for the codec.
type text struct {
	lw.RawCodec
	saved *lw.Object // result of the next Decode, so that a saved object can be packed
}

// Decode implements [lw.Codec].
func (c *text) Decode(s *lw.Scanned) (*lw.Object, error) {
	if c.saved != nil {
		return c.saved, nil
	}
	return c.RawCodec.Decode(s)
}

func newCodec(settings *Settings, decoded func(bytes int64)) (*codec, error) {
	c := &codec{decoded: decoded}
	if settings.Fields != nil {
		var err error
		if c.text.RawCodec, err = lw.Project(settings.Fields...); err != nil {
			return nil, err
		}
	}
	if settings.Pack != nil {
		c.packed = settings.Pack(&c.text)
	}
	return c, nil
}

// Decode implements [lw.Codec].
func (c *codec) Decode(s *lw.Scanned) (element, error) {
	e, err := new(stored), error(nil)
	if c.packed != nil {
		e.packed, err = c.packed.Decode(s)
	} else {
		e.object, err = c.text.Decode(s)
	}
	if err != nil {
		return nil, err
	}
	c.decoded(e.size())
	return e, nil
}

// Identity implements [lw.Codec].
func (c *codec) Identity() lw.Identity[element] {
	identity := lw.Identity[element]{UID: func(e element) string { return e.keyed().GetUID() }}
	if c.packed != nil {
		of := c.packed.Identity()
		identity.Equal = func(a, b element) bool { return of.Equal(a.packed, b.packed) }
		identity.Same = func(e element, s *lw.Scanned) bool { return of.Same(e.packed, s) }
	} else {
		of := c.text.Identity()
		identity.Equal = func(a, b element) bool { return of.Equal(a.object, b.object) }
		identity.Same = func(e element, s *lw.Scanned) bool { return of.Same(e.object, s) }
	}
	return identity
}

// parse decodes a saved object. The codec must not be in use.
func (c *codec) parse(text []byte) (element, error) {
	object, err := lw.ParseObject(text)
	if err != nil {
		return nil, err
	}
	c.text.saved = object
	defer func() { c.text.saved = nil }()
	return c.Decode(nil)
}

// scope is the part of a type that a source follows.
type scope struct {
	info TypeInfo
	gone bool // the server no longer has the type, so that it has no objects
	// clients contains a client for each followed namespace. The key "" stands for all namespaces.
	clients map[string]*lw.Client[element]
	// listed is true if the stream has begun to list this scope. Before that it must not resume a watch, because the stored
	// objects belong to another scope.
	listed bool
}

// wide reports whether the scope is the whole type.
func (s *scope) wide() bool { return s.clients[""] != nil }

// covers reports whether the scope includes all these namespaces.
func (s *scope) covers(namespaces []string) bool {
	return !slices.ContainsFunc(namespaces, func(namespace string) bool { return s.clients[namespace] == nil })
}

// followed returns the namespaces of the scope, or nil if it is not limited to namespaces.
func (s *scope) followed() (names []string) {
	for namespace := range s.clients {
		if namespace != "" {
			names = append(names, namespace)
		}
	}
	slices.Sort(names)
	return names
}

// source is the ListerWatcher of one type. Its scope may change between two runs of the informer: to another version, from all
// namespaces to those that can be listed, or to nothing when the type is deleted. The stream then relists, so that the
// informer reports the difference. Only the goroutine of the run uses a source.
type source struct {
	described lw.Source[element]
	scope     *scope
	held      func() []element  // returns the objects of the store
	versions  map[string]string // resourceVersion that the watch of each namespace has reached
	version   string            // last resourceVersion that the stream has received
}

// scopeChanged ends the first watch of a new scope. It makes the stream relist, and the store compare all objects, because
// objects in another version of the API differ although their resourceVersions are the same.
type scopeChanged struct{}

func (scopeChanged) Error() string {
	return "the catalog follows the type in another version or in other namespaces, or the server no longer has it"
}

// Is implements the interface of errors.Is.
func (scopeChanged) Is(target error) bool {
	return target == lw.ErrExpired || target == lw.ErrInconsistent
}

// Source implements [lw.ListerWatcher].
func (s *source) Source() *lw.Source[element] { return &s.described }

// List implements [lw.ListerWatcher].
func (s *source) List(ctx context.Context, opts lw.ListOptions) *lw.Page[element] {
	in, check := s.scope, opts.Limit == 1
	in.listed = in.listed || !check
	if client := in.clients[""]; client != nil {
		return client.List(ctx, opts.PassLookup(s, client))
	}
	page := new(lw.Page[element])
	page.Objects = func(yield func(element, error) bool) {
		switch {
		case in.gone:
		case check: // the stream of each namespace makes its own
			if held := s.held(); len(held) > 0 && !yield(held[0], nil) {
				return
			}
		case !s.listNamespaces(ctx, opts, yield):
			return
		}
		page.ResourceVersion = s.version
	}
	return page
}

// listNamespaces lists each namespace of the scope. It returns false after an error. Objects in other namespaces stay,
// because they may still exist.
func (s *source) listNamespaces(ctx context.Context, opts lw.ListOptions, yield func(element, error) bool) bool {
	versions := map[string]string{}
	for namespace, client := range s.scope.clients {
		for next := opts.PassLookup(s, client); ; {
			page := client.List(ctx, next)
			for object, err := range page.Objects {
				_, undecoded := errors.AsType[*lw.DecodeError](err)
				if !yield(object, err) || err != nil && !undecoded {
					return false
				}
			}
			versions[namespace] = page.ResourceVersion
			if page.Continue == "" {
				break
			}
			next.ResourceVersion, next.Continue = "", page.Continue
		}
	}
	for _, object := range s.held() {
		if s.scope.clients[object.GetNamespace()] == nil && !yield(object, nil) {
			return false
		}
	}
	s.versions, s.version = versions, oldest(versions)
	return true
}

// oldest returns the lowest resourceVersion, which all watches have passed.
func oldest(versions map[string]string) (low string) {
	for _, version := range versions {
		if order, ok := lw.CompareResourceVersions(version, low); low == "" || ok && order < 0 {
			low = version
		}
	}
	return low
}

// Watch implements [lw.ListerWatcher].
func (s *source) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[element], error] {
	in := s.scope
	in.listed = in.listed || opts.SendInitialEvents
	switch client := in.clients[""]; {
	case !in.listed:
		return func(yield func(lw.Event[element], error) bool) { yield(lw.Event[element]{}, scopeChanged{}) }
	case in.gone:
		return s.watchNothing(ctx, opts)
	case client == nil:
		return func(yield func(lw.Event[element], error) bool) { s.watchNamespaces(ctx, opts, yield) }
	default:
		return func(yield func(lw.Event[element], error) bool) {
			for event, err := range client.Watch(ctx, opts.PassLookup(s, client)) {
				if event.ResourceVersion != "" {
					s.version = event.ResourceVersion
				}
				if !yield(event, err) {
					return
				}
			}
		}
	}
}

// watchNothing is the watch of a deleted type. It starts with a streaming list without objects if opts requests it.
func (s *source) watchNothing(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[element], error] {
	return func(yield func(lw.Event[element], error) bool) {
		if yield(lw.Event[element]{Type: lw.WatchStarted, ResourceVersion: s.version}, nil) &&
			(!opts.SendInitialEvents || yield(lw.Event[element]{Type: lw.Synced, ResourceVersion: s.version}, nil)) {
			wait(ctx, opts.Timeout)
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watchNamespaces watches each namespace of the scope with its own stream, which resumes after a clean close. Any other
// interruption of one of them ends the watch.
func (s *source) watchNamespaces(ctx context.Context, opts lw.ListOptions, yield func(lw.Event[element], error) bool) {
	if opts.SendInitialEvents {
		list := opts
		list.SendInitialEvents, list.Timeout = false, 0
		if !yield(lw.Event[element]{Type: lw.WatchStarted}, nil) || !s.listNamespaces(ctx, list, func(object element, err error) bool {
			return yield(lw.Event[element]{Type: lw.Added, Object: object}, err)
		}) || !yield(lw.Event[element]{Type: lw.Synced, ResourceVersion: s.version}, nil) {
			return
		}
	}
	type received struct {
		namespace string
		event     lw.Event[element]
	}
	ctx, stop := context.WithTimeout(ctx, opts.Timeout)
	defer stop()
	events := make(chan received)
	var streams sync.WaitGroup
	defer streams.Wait()
	defer stop() // before waiting for the streams
	for namespace, client := range s.scope.clients {
		from := s.versions[namespace]
		streams.Go(func() {
			options := &lw.Options{LabelSelector: opts.LabelSelector, FieldSelector: opts.FieldSelector, Warn: silent, StopOn: func(cause error) bool {
				return !errors.Is(cause, lw.ErrWatchClosed)
			}}
			for event := range lw.Resume(ctx, client, lw.Held{ResourceVersion: from}, options) {
				select {
				case events <- received{namespace, event}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	open, started := map[string]bool{}, opts.SendInitialEvents
	for {
		var next received
		select {
		case next = <-events:
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
				yield(lw.Event[element]{}, err)
			}
			return
		}
		event, err := next.event, error(nil)
		switch event.Type {
		case lw.Interrupted:
			if !event.Interruption.Final {
				continue
			}
			yield(lw.Event[element]{}, event.Interruption.Err)
			return
		case lw.ListStarted: // the stream of the namespace must relist, and so must this one
			yield(lw.Event[element]{}, lw.ErrExpired)
			return
		case lw.WatchStarted:
			if open[next.namespace] = true; started || len(open) < len(s.scope.clients) {
				continue
			}
			started = true
		case lw.DecodeFailed:
			err = event.Err
		}
		if event.ResourceVersion != "" {
			s.versions[next.namespace] = event.ResourceVersion
		}
		s.version = oldest(s.versions)
		event.ResourceVersion = s.version
		if !yield(event, err) {
			return
		}
	}
}

// silent drops warnings, because the stream of the type reports the interruptions of its namespaces.
func silent(string, ...any) {}
