// Package uid lets package cache read the UIDs of Kubernetes types, whose GetUID methods return a named string type.
// This requires reflection. Package cache must not import reflect, because that would double the size of the WASM
// module.
package uid

// Reader returns a function that returns the UID of an object. none has the type of the objects. Reader returns nil if
// this type has no method GetUID. Package lw/codec sets Reader, so Reader is nil in programs without lw/codec.
var Reader func(none any) func(object any) string
