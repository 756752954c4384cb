package main

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// ErrNotFound says that the server has no such Secret.
var ErrNotFound = errors.New("there is no such Secret")

// ErrNotUsed says that nobody has said that the Secret is used.
var ErrNotUsed = errors.New("the Secret is not used: call Use first")

// Manager keeps the Secrets that are used at hand, each by a watch of its own, as a node's agent may read those of its Pods
// only. A Secret is watched from its first user's coming until its last one's going. All methods may run concurrently.
type Manager struct {
	transport lw.Transport
	ctx       context.Context
	stop      context.CancelFunc
	watches   sync.WaitGroup

	mu   sync.Mutex
	used map[lw.Key]*secret
}

// secret is one that is used.
type secret struct {
	users int
	store *cache.Store[*lw.Object]
	stop  context.CancelFunc
}

// NewManager returns a manager without Secrets. It must be closed.
func NewManager(transport lw.Transport) *Manager {
	ctx, stop := context.WithCancel(context.Background())
	return &Manager{transport: transport, ctx: ctx, stop: stop, used: map[lw.Key]*secret{}}
}

// Use says that one more uses a Secret.
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
	reflector := cache.NewReflector(client, nil)
	m.used[key] = &secret{users: 1, store: reflector.Store(), stop: stop}
	m.watches.Go(func() { _ = reflector.Run(ctx) }) // it ends with the context only
	return nil
}

// Leave says that one less uses a Secret.
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

// Get returns a Secret that is used, as it was last seen. It waits for the first answer of the server, until ctx ends.
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

// WaitFor returns when a Secret that is used has been seen at a resource version, or with context.Cause(ctx).
func (m *Manager) WaitFor(ctx context.Context, key lw.Key, resourceVersion string) error {
	m.mu.Lock()
	s := m.used[key]
	m.mu.Unlock()
	if s == nil {
		return ErrNotUsed
	}
	return s.store.WaitFor(ctx, resourceVersion)
}

// Len returns how many Secrets are used.
func (m *Manager) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.used)
}

// Close ends all watches, and returns when they have ended.
func (m *Manager) Close() {
	m.stop()
	m.watches.Wait()
}
