package cache

import (
	"context"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// waiter represents a blocked call to WaitFor.
type waiter struct {
	version string
	reached chan struct{}
}

// WaitFor blocks until the store has reached a resourceVersion through an event, a bookmark or a list. Later reads then
// show every write up to this resourceVersion. WaitFor compares resourceVersions by the rules of KEP-5504. If they
// cannot be compared, it waits until they are equal. For "" and "0", it blocks until the first list is complete. If ctx
// is done first, WaitFor returns context.Cause(ctx).
func (s *Store[T]) WaitFor(ctx context.Context, resourceVersion string) error {
	w := waiter{version: resourceVersion, reached: make(chan struct{})}
	s.mu.Lock()
	reached := s.hasReached(resourceVersion)
	if !reached {
		s.waiters = append(s.waiters, w)
	}
	s.mu.Unlock()
	if reached {
		return nil
	}
	select {
	case <-w.reached:
		return nil
	case <-ctx.Done():
		s.removeWaiter(w)
		return context.Cause(ctx)
	}
}

func (s *Store[T]) hasReached(wanted string) bool {
	if wanted == "" || wanted == "0" {
		return isClosed(s.synced)
	}
	if order, ok := lw.CompareResourceVersions(s.state.version, wanted); ok {
		return order >= 0
	}
	return s.state.version == wanted
}

// notifyWaiters wakes the callers whose resourceVersion has been reached.
func (s *Store[T]) notifyWaiters() {
	if len(s.waiters) == 0 {
		return
	}
	var left []waiter
	for _, w := range s.waiters {
		if s.hasReached(w.version) {
			close(w.reached)
		} else {
			left = append(left, w)
		}
	}
	s.waiters = left
}

func (s *Store[T]) removeWaiter(gone waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.waiters {
		if w.reached == gone.reached {
			s.waiters = append(s.waiters[:i], s.waiters[i+1:]...)
			return
		}
	}
}
