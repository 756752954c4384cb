//go:build !js

package http

import "context"

// contextLock is a lock whose wait ends with a context.
type contextLock chan struct{}

// do runs f with the lock. If ctx ends first, do returns the cause and f keeps the lock until it returns. A file system may block
// for a long time.
func (t contextLock) do(ctx context.Context, f func()) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
		<-t
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
