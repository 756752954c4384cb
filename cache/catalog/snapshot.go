package catalog

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/labels"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Ref identifies an object in a cluster.
type Ref struct {
	Type
	lw.Key
}

// String returns the type and the key, for example "deployments.apps/shop/web".
func (r Ref) String() string { return r.Type.String() + "/" + r.Key.String() }

// Snapshot is an immutable view of all collections. Each type is at one resourceVersion, but different types can be at
// different times. A Snapshot keeps its objects in memory.
type Snapshot struct {
	types  []*frozen // in the order of their names
	byType map[Type]*frozen
}

// frozen contains the objects of one type.
type frozen struct {
	info     TypeInfo
	objects  *cache.Snapshot[element]
	live     *collection
	informer *cache.Informer[element]

	indexed        sync.Once
	byUID, byOwner *cache.Index[element, string]
}

// Snapshot returns a snapshot of all collections. It includes collections that are stale or still empty.
func (c *Catalog) Snapshot() *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Snapshot{byType: map[Type]*frozen{}}
	for _, n := range c.sorted() {
		f := &frozen{info: n.info, objects: n.informer.Store().Snapshot(), live: n, informer: n.informer}
		s.types = append(s.types, f)
		s.byType[n.info.Type] = f
	}
	return s
}

// index creates the indexes when they are first used, because many programs need none.
func (f *frozen) index() {
	f.indexed.Do(func() {
		f.live.catalog.locked(func() {
			if f.live.informer != f.informer {
				return
			}
			if f.live.byUID == nil {
				f.live.byUID = cache.NewIndex(f.informer.Store(), uidOf)
				f.live.byOwner = cache.NewIndex(f.informer.Store(), ownersOf)
			}
			f.byUID, f.byOwner = f.live.byUID, f.live.byOwner
		})
		if f.byUID == nil { // the collection was dropped
			f.byUID, f.byOwner = cache.NewIndex(f.informer.Store(), uidOf), cache.NewIndex(f.informer.Store(), ownersOf)
		}
		f.byUID, f.byOwner = f.byUID.In(f.objects), f.byOwner.In(f.objects)
	})
}

func uidOf(e element, to []string) []string {
	if uid := e.keyed().GetUID(); uid != "" {
		to = append(to, uid)
	}
	return to
}

func ownersOf(e element, to []string) []string {
	for owner := range objectOf(e).Get("metadata.ownerReferences").Elements() {
		if uid := owner.Member("uid").String(); uid != "" && !slices.Contains(to, uid) {
			to = append(to, strings.Clone(uid))
		}
	}
	return to
}

// Types iterates over the types of the snapshot in the order of their names.
func (s *Snapshot) Types() iter.Seq[TypeInfo] {
	return func(yield func(TypeInfo) bool) {
		for _, f := range s.types {
			if !yield(f.info) {
				return
			}
		}
	}
}

// Version returns the resourceVersion of a type, or "" if it has not been listed yet.
func (s *Snapshot) Version(of Type) string {
	if f := s.byType[of]; f != nil {
		return f.objects.ResourceVersion()
	}
	return ""
}

// Get returns an object.
func (s *Snapshot) Get(ref Ref) (*lw.Object, bool) {
	f := s.byType[ref.Type]
	if f == nil {
		return nil, false
	}
	e, ok := f.objects.Get(ref.Key)
	return objectOf(e), ok
}

// List iterates over the objects of a type in no particular order. namespace limits them to a namespace, and selector to
// labels, for example "app=web,tier!=db". Both may be empty. List returns an error if the selector is malformed.
func (s *Snapshot) List(of Type, namespace, selector string) (iter.Seq2[Ref, *lw.Object], error) {
	matching, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("catalog: label selector %q: %w", selector, err)
	}
	return func(yield func(Ref, *lw.Object) bool) {
		f := s.byType[of]
		if f == nil {
			return
		}
		for e := range f.objects.All() {
			if namespace != "" && e.GetNamespace() != namespace {
				continue
			}
			object := objectOf(e)
			if matching.Matches(object.Label) && !yield(Ref{of, lw.KeyOf(object)}, object) {
				return
			}
		}
	}, nil
}

// ByUID returns the object with this UID. The first call of ByUID, Owned or Tree on any of a catalog's snapshots builds
// indexes, which takes time.
func (s *Snapshot) ByUID(uid string) (Ref, *lw.Object, bool) {
	for _, f := range s.types {
		f.index()
		for _, e := range f.byUID.List(uid) {
			object := objectOf(e)
			return Ref{f.info.Type, lw.KeyOf(object)}, object, true
		}
	}
	return Ref{}, nil, false
}

// Owned iterates over the objects that name this UID in metadata.ownerReferences, sorted by type and key.
func (s *Snapshot) Owned(uid string) iter.Seq2[Ref, *lw.Object] {
	return func(yield func(Ref, *lw.Object) bool) {
		for _, f := range s.types {
			f.index()
			owned := f.byOwner.List(uid)
			slices.SortFunc(owned, func(a, b element) int { return strings.Compare(lw.KeyOf(a).String(), lw.KeyOf(b).String()) })
			for _, e := range owned {
				object := objectOf(e)
				if !yield(Ref{f.info.Type, lw.KeyOf(object)}, object) {
					return
				}
			}
		}
	}
}

// Tree iterates over the object with this UID and everything below it, depth first. It yields each object's depth, which is
// zero for the first object. An object with several owners appears once.
func (s *Snapshot) Tree(uid string) iter.Seq2[int, Ref] {
	return func(yield func(int, Ref) bool) {
		root, object, ok := s.ByUID(uid)
		if !ok {
			return
		}
		seen := map[string]bool{}
		var walk func(depth int, ref Ref, object *lw.Object) bool
		walk = func(depth int, ref Ref, object *lw.Object) bool {
			if seen[object.GetUID()] {
				return true
			}
			seen[object.GetUID()] = true
			if !yield(depth, ref) {
				return false
			}
			for ref, object := range s.Owned(object.GetUID()) {
				if !walk(depth+1, ref, object) {
					return false
				}
			}
			return true
		}
		walk(0, root, object)
	}
}
