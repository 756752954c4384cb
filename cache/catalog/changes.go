package catalog

import (
	"cmp"
	"context"
	"iter"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Change is a change of one object. A Change with the Type lw.Synced has no object. It means that the loop has yielded
// all objects that the type's collection contained when the loop began, or all objects in the collection's first list.
type Change struct {
	Resource Type
	cache.Change[*lw.Object]
}

// subscriber is a loop over Changes.
type subscriber struct {
	ctx     context.Context // canceled when the loop exits
	opts    cache.HandlerOptions[Packed]
	changes chan Change
	marks   sync.WaitGroup // goroutines that send a Synced change when a collection is synced
}

// Changes yields the existing objects of all types and then every change, until ctx is done or the loop exits. Another
// goroutine must call Run. The loop must not wait for the end of Run, because Run waits until the loop has received the
// change that it is sending. Changes of one type arrive in order, but changes of different types are not ordered. opts apply to
// each type separately, and may be nil.
func (c *Catalog) Changes(ctx context.Context, opts *cache.HandlerOptions[*lw.Object]) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		ctx, stop := context.WithCancel(ctx)
		own := cmp.Or(opts, &cache.HandlerOptions[*lw.Object]{})
		s := &subscriber{ctx: ctx, changes: make(chan Change)}
		s.opts = cache.HandlerOptions[Packed]{Policy: own.Policy, Capacity: own.Capacity, Resync: own.Resync, OnPanic: own.OnPanic}
		if own.Filter != nil {
			s.opts.Filter = func(e Packed) bool { return own.Filter(e.Object()) }
		}
		c.locked(func() {
			c.subscribers[s] = true
			for _, n := range c.sorted() {
				s.follow(n)
			}
		})
		defer s.marks.Wait()
		defer c.locked(func() {
			stop()
			delete(c.subscribers, s)
			for _, n := range c.sorted() {
				n.unsubscribe(s)
			}
		})
		for {
			select {
			case change := <-s.changes:
				if !yield(change) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// follow adds a handler that sends the collection's changes to the loop. The caller must hold the catalog's lock.
func (s *subscriber) follow(n *collection) {
	if n.settings.hidden { // no loop unsubscribes from it, because sorted omits it
		return
	}
	of := n.info.Type
	pass := func(change cache.Change[*lw.Object]) {
		select {
		case s.changes <- Change{of, change}:
		case <-s.ctx.Done():
		case <-n.removed:
		}
	}
	r := n.Handle(cache.Handler[Packed]{
		Added: func(object Packed, initial bool) {
			pass(cache.Change[*lw.Object]{Type: lw.Added, New: object.Object(), Initial: initial})
		},
		Modified: func(old, object Packed) {
			change := cache.Change[*lw.Object]{Type: lw.Modified, New: object.Object()}
			if change.Old = change.New; !same(old, object) { // after a resync, both are the same object
				change.Old = old.Object()
			}
			pass(change)
		},
		Deleted: func(object Packed, finalStateUnknown bool) {
			pass(cache.Change[*lw.Object]{Type: lw.Deleted, Old: object.Object(), FinalStateUnknown: finalStateUnknown})
		},
	}, &s.opts)
	n.changes[s] = r
	s.marks.Go(func() {
		select {
		case <-r.Synced():
			pass(cache.Change[*lw.Object]{Type: lw.Synced})
		case <-r.Done():
		case <-s.ctx.Done():
		}
	})
}
