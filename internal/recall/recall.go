// Package recall lets a client reuse the objects in a store when it decodes a list. The client then decodes only the
// objects that have changed.
package recall

import "context"

// Func returns the stored object with the given key and resourceVersion. It must not retain the slices.
type Func[T any] func(namespace, name, resourceVersion []byte) (object T, ok bool)

type key[T any] struct{}

type value[T any] struct {
	source any
	held   Func[T]
}

// With returns a context that gives source a function to look up stored objects. A wrapper of source must not call this
// function, because the wrapper may change the objects.
func With[T any](ctx context.Context, source any, held Func[T]) context.Context {
	return context.WithValue(ctx, key[T]{}, value[T]{source, held})
}

// From returns the Func that ctx holds for source, or nil.
func From[T any](ctx context.Context, source any) Func[T] {
	if v, ok := ctx.Value(key[T]{}).(value[T]); ok && v.source == source {
		return v.held
	}
	return nil
}
