// Package recall lets a client reuse stored objects when it decodes a list. The client then decodes only the objects
// that have changed.
package recall

import "context"

// Func returns the stored object with the given key, UID and resourceVersion, if any. A Func must not retain its
// arguments.
type Func[T any] func(namespace, name, uid, resourceVersion []byte) (object T, ok bool)

type key[T any] struct{}

type value[T any] struct {
	source any
	lookup Func[T]
}

// With returns a copy of ctx that lets source look up stored objects. From returns nil for wrappers of source, because
// they may change objects.
func With[T any](ctx context.Context, source any, lookup Func[T]) context.Context {
	return context.WithValue(ctx, key[T]{}, value[T]{source, lookup})
}

// From returns the Func that ctx contains for source, or nil.
func From[T any](ctx context.Context, source any) Func[T] {
	if v, ok := ctx.Value(key[T]{}).(value[T]); ok && v.source == source {
		return v.lookup
	}
	return nil
}
