//go:build !js

package http

import "context"

// turn is a lock that a caller waits for until a context ends.
type turn chan struct{}

// do runs f with the lock. If ctx ends first it returns the cause; f then keeps the lock until it returns. A file system may
// not answer for a long time.
func (t turn) do(ctx context.Context, f func()) error {
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
