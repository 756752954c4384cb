package clientgo

import (
	"context"
	"errors"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func (i *informer) SetTransform(transform cache.TransformFunc) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	i.codec.transform = transform
	return nil
}

func (i *informer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext implements [cache.SharedInformer]. Without a handler, the informer logs errors.
func (i *informer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	i.onError = handler
	return nil
}

// running returns the context of RunWithContext and the watch error handler, which may be nil. Before the start, the
// context is context.Background().
func (i *informer) running() (context.Context, cache.WatchErrorHandlerWithContext) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ctx == nil {
		return context.Background(), i.onError
	}
	return i.ctx, i.onError
}

// interrupted passes the error that ended a watch or list to the watch error handler. It always returns false, so that
// the informer continues.
func (i *informer) interrupted(cause error) bool {
	if ctx, handler := i.running(); handler != nil && ctx.Err() == nil && !errors.Is(cause, lw.ErrWatchClosed) {
		handler(ctx, i.reflector, apiError(cause))
	}
	return false
}

// logger is an [lw.Logger] that writes the engine's warnings to klog. It drops them if the informer has a watch error
// handler.
type logger informer

func (l *logger) Warn(msg string, args ...any) {
	ctx, handler := (*informer)(l).running()
	if handler != nil {
		return
	}
	for n := 0; n+1 < len(args); n += 2 {
		if args[n] == "collection" {
			args[n+1] = l.source.String()
		}
	}
	klog.FromContext(ctx).Info(msg, args...)
}
