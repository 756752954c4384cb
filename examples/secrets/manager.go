// Package secrets shows how an agent can watch many single objects, each for a limited time. The agent watches only
// the Secrets that its node's Pods use.
package secrets

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// ErrNotFound means that the Secret does not exist on the server.
var ErrNotFound = errors.New("the Secret does not exist")

// ErrNotUsed means that the Secret is not in use. Call [Manager.Use] first.
var ErrNotUsed = errors.New("the Secret is not in use; call Use first")

// Manager stores the Secrets that are in use. It watches each Secret separately, because an agent may read only the
// Secrets that its node's Pods use. A watch runs while its Secret is in use. Manager is safe for concurrent use.
type Manager struct {
	transport lw.Transport
	ctx       context.Context
	stop      context.CancelFunc
	watches   sync.WaitGroup

	mu   sync.Mutex
	used map[lw.Key]*secret
}

type secret struct {
	users int                      // number of calls to Use without a call to Leave; at least one
	store *cache.Store[*lw.Object] // contains at most this Secret
	stop  context.CancelFunc       // stops the watch
}

// NewManager returns a manager that sends requests through transport. The caller must close the manager.
func NewManager(transport lw.Transport) *Manager {
	ctx, stop := context.WithCancel(context.Background())
	return &Manager{transport: transport, ctx: ctx, stop: stop, used: map[lw.Key]*secret{}}
}

// Use adds a user of a Secret. The first user starts a watch. Each user must call [Manager.Leave] when it no longer
// needs the Secret.
func (m *Manager) Use(key lw.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.used[key]; s != nil {
		s.users++
		return nil
	}
	one := lw.Resource{Version: "v1", Plural: "secrets", Namespace: key.Namespace, Name: key.Name}
	client, err := lw.NewClient(m.transport, one, lw.RawCodec{}, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(m.ctx)
	informer := cache.NewInformer(client, nil)
	m.used[key] = &secret{users: 1, store: informer.Store(), stop: stop}
	m.watches.Go(func() { _ = informer.Run(ctx) }) // returns only when ctx is done
	return nil
}

// Leave removes a user of a Secret. When the Secret has no users left, Leave stops its watch.
func (m *Manager) Leave(key lw.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.used[key]
	if s == nil {
		return
	}
	if s.users--; s.users == 0 {
		s.stop()
		delete(m.used, key)
	}
}

// Get returns a Secret that is in use. It blocks until the first list is complete, or returns context.Cause(ctx) if ctx
// is done first.
func (m *Manager) Get(ctx context.Context, key lw.Key) (*lw.Object, error) {
	m.mu.Lock()
	s := m.used[key]
	m.mu.Unlock()
	if s == nil {
		return nil, ErrNotUsed
	}
	select {
	case <-s.store.Synced():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if object, ok := s.store.Get(key); ok {
		return object, nil
	}
	return nil, ErrNotFound
}

// WaitFor blocks until the stored Secret has at least the given resourceVersion. If ctx is done first, it returns
// context.Cause(ctx).
func (m *Manager) WaitFor(ctx context.Context, key lw.Key, resourceVersion string) error {
	m.mu.Lock()
	s := m.used[key]
	m.mu.Unlock()
	if s == nil {
		return ErrNotUsed
	}
	return s.store.WaitFor(ctx, resourceVersion)
}

// Len returns the number of Secrets that are in use.
func (m *Manager) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.used)
}

// Close stops all watches and waits until they have ended.
func (m *Manager) Close() {
	m.stop()
	m.watches.Wait()
}
