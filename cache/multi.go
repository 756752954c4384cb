package cache

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/internal/lock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Sourced is an object of a [MergedStore], with the name of the source that it came from.
type Sourced[T any] struct {
	Source string
	Object T
}

// MergedStore follows several sources, as namespaces, selectors, shards or clusters, and folds them into one store. Each has a
// stream and a version of its own: a source that lists anew touches the objects of no other. All methods may run
// concurrently, but for Run, which runs once at a time.
type MergedStore[T lw.Keyed] struct {
	key     func(Sourced[T]) lw.Key
	names   []string
	sources map[string]*Reflector[T]
	store   *Store[Sourced[T]]

	running atomic.Bool

	mu     lock.Mutex // one source writes at a time
	writer *Writer[Sourced[T]]
}

// NewMergedStore returns a MergedStore of sources by their names, each of which is followed with the same options; opts may be nil, and
// its Wake must be.
// key names an object in the common store. nil keeps objects' own keys, for sources that have no object in common but the
// same ones, as overlapping selectors do; for clusters, add the source, as Key{Namespace: m.Source + "/" + namespace, Name:
// name}.
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
	m.store, m.writer = NewStore(key)
	return m
}

// Store returns the common store, for reading. It is synced when all sources are, and has no resource version, as the
// sources have one each: so it cannot be saved, and waits for "" only.
func (m *MergedStore[T]) Store() *Store[Sourced[T]] { return m.store }

// Source returns the store of one source, whose version and Synced are the source's; nil if there is none of this name.
func (m *MergedStore[T]) Source(name string) *Store[T] {
	if r := m.sources[name]; r != nil {
		return r.Store()
	}
	return nil
}

// Run follows all sources until ctx ends, and returns context.Cause(ctx); or until Options.StopOn says so for one of them,
// which ends all, and returns what it was asked about. When it has returned, nothing is left running.
func (m *MergedStore[T]) Run(ctx context.Context) error {
	if !m.running.CompareAndSwap(false, true) {
		panic("cache: a Multi is run twice at the same time")
	}
	defer m.running.Store(false)
	if len(m.sources) == 0 { // all that there is is known
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

// runSource applies one source to the common store.
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

// markSynced marks the common store as synced when all sources are.
func (m *MergedStore[T]) markSynced() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.sources {
		if !isClosed(r.Store().Synced()) {
			return
		}
	}
	m.writer.Fold(lw.Event[Sourced[T]]{Type: lw.Synced})
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

// put stores an object of a source unless another source has a later state of it.
func (m *MergedStore[T]) put(object Sourced[T]) {
	if held, ok := m.store.Get(m.key(object)); ok && held.Source != object.Source {
		order, ok := lw.CompareResourceVersions(held.Object.GetResourceVersion(), object.Object.GetResourceVersion())
		if ok && order > 0 {
			return
		}
	}
	m.writer.Put(object)
}

// remove deletes an object of a source unless another source has it, too.
func (m *MergedStore[T]) remove(gone Sourced[T]) {
	key := m.key(gone)
	if held, ok := m.store.Get(key); !ok || held.Source != gone.Source {
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
