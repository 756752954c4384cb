package kube

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollInterval is short compared to the usual wait, which takes seconds.
const pollInterval = 25 * time.Millisecond

// Poll calls check until it returns nil or ctx is canceled. On cancellation, the error wraps the context's cause and
// the last error of check. The error message contains the condition, for example "the API server to be ready".
func Poll(ctx context.Context, condition string, check func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	last := errors.New("not checked")
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// After cancellation, check returns the context's error, which does not describe the condition.
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last check: %w)", condition, context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
