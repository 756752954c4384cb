// Package tracing stores a trace of package lw in a context, so that transports and caches can report to it.
package tracing

import "context"

type key struct{}

// With returns a copy of ctx that carries trace.
func With[T any](ctx context.Context, trace *T) context.Context {
	return context.WithValue(ctx, key{}, trace)
}

// From returns the trace of ctx, or a new T if ctx has none. It never returns nil.
func From[T any](ctx context.Context) *T {
	if trace, ok := ctx.Value(key{}).(*T); ok && trace != nil {
		return trace
	}
	return new(T)
}
