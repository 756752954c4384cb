//go:build !js

package http

import "context"

// contextLock is a mutex. A goroutine stops waiting for the mutex when its context is done.
type contextLock chan struct{}

// do calls f with the lock held. If ctx is done first, do returns the cause of ctx, and f continues in another
// goroutine. The lock is released when f returns.
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
