package cache

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/internal/lock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Sourced is an object of a [MergedStore] with the name of its source.
type Sourced[T any] struct {
	Source string
	Object T
}

// MergedStore follows several sources and merges them into one store. Sources are, for example, namespaces, selectors,
// shards or clusters. Each source has its own stream and resourceVersion. A relist of one source does not affect the
// objects of other sources. All methods may be called concurrently, but only one Run may be active at a time.
type MergedStore[T lw.Keyed] struct {
	key     func(Sourced[T]) lw.Key
	names   []string
	sources map[string]*Reflector[T]
	store   *Store[Sourced[T]]

	running atomic.Bool

	mu     lock.Mutex // serializes the writes of the sources
	writer *Writer[Sourced[T]]
}

// NewMergedStore returns a MergedStore of named sources. All sources use the same options. opts may be nil. opts.Wake
// must be nil.
//
// key returns the key of an object in the merged store. If key is nil, objects keep their own keys. Use nil if objects
// with equal keys are the same object, for example with overlapping selectors. If the sources are clusters, add the
// source to the key, for example Key{Namespace: m.Source + "/" + namespace, Name: name}.
func NewMergedStore[T lw.Keyed](sources map[string]lw.ListerWatcher[T], key func(Sourced[T]) lw.Key, opts *lw.Options) *MergedStore[T] {
	if key == nil {
		key = func(m Sourced[T]) lw.Key { return lw.KeyOf(m.Object) }
	}
	m := &MergedStore[T]{key: key, sources: make(map[string]*Reflector[T], len(sources))}
	for name, source := range sources {
		m.names = append(m.names, name)
		m.sources[name] = NewReflector(source, opts)
	}
	slices.Sort(m.names)
	m.store, m.writer = NewStore(key, lw.Identity[Sourced[T]]{})
	return m
}

// Store returns the merged store, for reading. It is synced when all sources are synced. It has no resourceVersion,
// because each source has its own. Therefore it cannot be saved, and [Store.WaitFor] returns nil only for "" and "0".
func (m *MergedStore[T]) Store() *Store[Sourced[T]] { return m.store }

// Source returns the store of one source, with the objects and the resourceVersion of that source. It returns nil for
// an unknown name.
func (m *MergedStore[T]) Source(name string) *Store[T] {
	if r := m.sources[name]; r != nil {
		return r.Store()
	}
	return nil
}

// Run follows all sources until ctx is done, and then returns context.Cause(ctx). If Options.StopOn returns true for an
// error of one source, Run stops all sources and returns that error. When Run returns, all its goroutines have ended.
func (m *MergedStore[T]) Run(ctx context.Context) error {
	if !m.running.CompareAndSwap(false, true) {
		panic("cache: MergedStore.Run called before the previous Run returned")
	}
	defer m.running.Store(false)
	if len(m.sources) == 0 { // without sources, the merged store is synced at once
		m.markSynced()
		<-ctx.Done()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for name, reflector := range m.sources {
		group.Go(func() { stop(m.runSource(ctx, name, reflector)) })
	}
	group.Wait()
	return context.Cause(ctx)
}

// runSource applies the changes of one source to the merged store until the source stops, and returns the cause.
func (m *MergedStore[T]) runSource(ctx context.Context, name string, reflector *Reflector[T]) error {
	for event, changes := range reflector.Changes(ctx) {
		if len(changes) > 0 {
			m.applyChanges(name, changes)
		}
		if event.Type == lw.Synced {
			m.markSynced()
		}
		if event.Interruption != nil && event.Interruption.Final {
			return event.Interruption.Err
		}
	}
	return context.Cause(ctx)
}

// markSynced marks the merged store as synced if all sources are synced.
func (m *MergedStore[T]) markSynced() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.sources {
		if !isClosed(r.Store().Synced()) {
			return
		}
	}
	m.writer.fold(lw.Event[Sourced[T]]{Type: lw.Synced})
}

func (m *MergedStore[T]) applyChanges(name string, changes []Change[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range changes {
		if d.Type == Deleted {
			m.remove(Sourced[T]{name, d.Old})
		} else {
			m.put(Sourced[T]{name, d.New})
		}
	}
}

// put stores an object of a source, unless the merged store has a newer version from another source.
func (m *MergedStore[T]) put(object Sourced[T]) {
	if stored, ok := m.store.Get(m.key(object)); ok && stored.Source != object.Source {
		order, ok := lw.CompareResourceVersions(stored.Object.GetResourceVersion(), object.Object.GetResourceVersion())
		if ok && order > 0 {
			return
		}
	}
	m.writer.Put(object)
}

// remove deletes an object of a source. If another source has an object with the same key, remove stores that object
// instead. It searches the sources in the order of their names.
func (m *MergedStore[T]) remove(gone Sourced[T]) {
	key := m.key(gone)
	if stored, ok := m.store.Get(key); !ok || stored.Source != gone.Source {
		return
	}
	for _, name := range m.names {
		if object, ok := m.Source(name).Get(lw.KeyOf(gone.Object)); ok && m.key(Sourced[T]{name, object}) == key {
			m.writer.Put(Sourced[T]{name, object})
			return
		}
	}
	m.writer.Delete(key)
}
