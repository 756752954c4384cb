// Package uid lets package cache read the UIDs of objects with reflection. Reflection is necessary because GetUID of
// the Kubernetes types returns a named string type. Package cache must not import reflect, which would double the size
// of the WASM module.
package uid

// Reader returns a function that reads the UID of objects with the same type as its argument. It returns nil if the
// type has no method GetUID. Package lw/codec sets Reader. Reader is nil in programs without lw/codec.
var Reader func(none any) func(object any) string
