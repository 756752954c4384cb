package kube

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollInterval is the time between two checks of a condition.
const pollInterval = 25 * time.Millisecond

// Poll calls check every 25 ms until check returns nil or ctx is done. If ctx is done first, the error wraps the cause
// of ctx and the last error of check. The error message contains condition, for example "the API server to be ready".
func Poll(ctx context.Context, condition string, check func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	last := errors.New("no check has finished")
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// Once ctx is done, check returns the error of ctx, which does not describe the condition.
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (last check: %w)", condition, context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
