package kube

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollInterval is short beside what is waited for, which takes seconds.
const pollInterval = 25 * time.Millisecond

// Poll calls check until it returns nil or the context ends, whose error and the last error of check are then in the result.
// What names the awaited thing for that error, such as "the API server to be ready". Without a deadline in the context it
// may wait for ever.
func Poll(ctx context.Context, what string, check func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	last := errors.New("never checked")
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// An error after the end says only that the context ended.
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (last: %w)", what, context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
