// Package recall gives the client that decodes a list access to the objects in the store. The client then does not
// decode objects that have not changed.
package recall

import "context"

// Func returns the stored object with this key and resourceVersion. The slices are valid only during the call.
type Func[T any] func(namespace, name, resourceVersion []byte) (object T, ok bool)

type key[T any] struct{}

type value[T any] struct {
	source any
	held   Func[T]
}

// With returns a context that carries held to source. If source is wrapped, it does not receive held, because the
// wrapper may change the objects.
func With[T any](ctx context.Context, source any, held Func[T]) context.Context {
	return context.WithValue(ctx, key[T]{}, value[T]{source, held})
}

// From returns the Func that ctx carries to source, or nil.
func From[T any](ctx context.Context, source any) Func[T] {
	if v, ok := ctx.Value(key[T]{}).(value[T]); ok && v.source == source {
		return v.held
	}
	return nil
}
