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

// Snapshot is an immutable view of all collections. The objects of each type have a consistent state at one
// resourceVersion, but some types can be more current than others. A Snapshot keeps its objects in memory until it is
// garbage collected.
type Snapshot struct {
	types  []*frozen // in the order of their names
	infos  []TypeInfo
	byType map[Type]*frozen
}

// frozen contains the objects of one type in a snapshot. Its indexes are created when they are first used.
type frozen struct {
	info           TypeInfo
	objects        *cache.Snapshot[Packed]
	byUID, byOwner func() *cache.Index[Packed, string]
}

// Snapshot returns a snapshot of all collections. It includes collections that are stale or still empty.
func (c *Catalog) Snapshot() *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Snapshot{byType: map[Type]*frozen{}}
	for _, n := range c.sorted() {
		objects := n.Store().Snapshot()
		f := &frozen{
			info: n.info, objects: objects,
			byUID:   sync.OnceValue(func() *cache.Index[Packed, string] { return n.byUID().In(objects) }),
			byOwner: sync.OnceValue(func() *cache.Index[Packed, string] { return n.byOwner().In(objects) }),
		}
		s.types, s.infos = append(s.types, f), append(s.infos, n.info)
		s.byType[n.info.Type] = f
	}
	return s
}

// uidOf and ownersOf return the keys for indexes. The keys are clones, because otherwise an index would keep the whole
// text of outdated objects in memory.
func uidOf(e Packed, to []string) []string { return append(to, strings.Clone(e.GetUID())) }

func ownersOf(e Packed, to []string) []string {
	for owner := range e.Object().Get("metadata.ownerReferences").Elements() {
		to = append(to, strings.Clone(owner.Member("uid").String()))
	}
	return to
}

// Types iterates over the types of the snapshot in the order of their names.
func (s *Snapshot) Types() iter.Seq[TypeInfo] { return slices.Values(s.infos) }

// ResourceVersion returns the resourceVersion of a type, or "" if it has not been listed yet.
func (s *Snapshot) ResourceVersion(of Type) string {
	if f := s.byType[of]; f != nil {
		return f.objects.ResourceVersion()
	}
	return ""
}

// Get returns an object, or false if the snapshot does not contain it.
func (s *Snapshot) Get(ref Ref) (*lw.Object, bool) {
	if f := s.byType[ref.Type]; f != nil {
		if e, ok := f.objects.Get(ref.Key); ok {
			return e.Object(), true
		}
	}
	return nil, false
}

// List iterates over the objects of a type in no particular order. namespace limits them to a namespace, and selector
// to labels, for example "app=web,tier!=db". Both may be empty. List returns an error if the selector is malformed.
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
			object := e.Object()
			if matching.Matches(object.Label) && !yield(Ref{of, lw.KeyOf(e)}, object) {
				return
			}
		}
	}, nil
}

// ByUID returns the object with this UID, or false if there is none. The first call of ByUID for a catalog builds an
// index, which takes time. The same applies to the first call of Owned or Tree.
func (s *Snapshot) ByUID(uid string) (Ref, *lw.Object, bool) {
	for ref, object := range s.find(uid, func(f *frozen) *cache.Index[Packed, string] { return f.byUID() }) {
		return ref, object, true
	}
	return Ref{}, nil, false
}

// Owned iterates over the objects that name this UID in metadata.ownerReferences, sorted by type and key.
func (s *Snapshot) Owned(uid string) iter.Seq2[Ref, *lw.Object] {
	return s.find(uid, func(f *frozen) *cache.Index[Packed, string] { return f.byOwner() })
}

// find iterates over the objects of all types that have the key in the given index.
func (s *Snapshot) find(key string, index func(*frozen) *cache.Index[Packed, string]) iter.Seq2[Ref, *lw.Object] {
	return func(yield func(Ref, *lw.Object) bool) {
		for _, f := range s.types {
			found := index(f).List(key)
			slices.SortFunc(found, func(a, b Packed) int { return strings.Compare(lw.KeyOf(a).String(), lw.KeyOf(b).String()) })
			for _, e := range found {
				if !yield(Ref{f.info.Type, lw.KeyOf(e)}, e.Object()) {
					return
				}
			}
		}
	}
}

// Tree iterates depth first over an object and all objects that it owns directly or indirectly. It yields each object
// with its depth, which is zero for root. An object with several owners appears once.
func (s *Snapshot) Tree(root Ref) iter.Seq2[int, Ref] {
	return func(yield func(int, Ref) bool) {
		if object, ok := s.Get(root); ok {
			s.walk(0, root, object.GetUID(), map[string]bool{}, yield)
		}
	}
}

// walk yields the object with this UID and all objects below it. It skips UIDs in seen, so that a cycle of owners ends.
// It returns false if the loop has ended.
func (s *Snapshot) walk(depth int, ref Ref, uid string, seen map[string]bool, yield func(int, Ref) bool) bool {
	if seen[uid] {
		return true
	}
	seen[uid] = true
	if !yield(depth, ref) {
		return false
	}
	for ref, object := range s.Owned(uid) {
		if !s.walk(depth+1, ref, object.GetUID(), seen, yield) {
			return false
		}
	}
	return true
}
