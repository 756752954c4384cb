package kube

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollInterval is short compared with the conditions, which take seconds.
const pollInterval = 25 * time.Millisecond

// Poll calls check until it returns nil or the context ends. The error then wraps the context's cause and the last
// error of check. The parameter what names the condition in that error, such as "the API server to be ready". Without a
// deadline in the context, Poll may block forever.
func Poll(ctx context.Context, what string, check func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	last := errors.New("never checked")
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// After the context has ended, check only reports the context's error.
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
