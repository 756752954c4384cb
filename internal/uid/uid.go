// Package uid lets package cache read the UIDs of Kubernetes types, whose GetUID methods return a named string type.
// This requires reflection. Package cache must not import reflect, because that would double the size of the WASM
// module.
package uid

// Reader returns a function that reads the UIDs of objects that have the same type as example. It returns nil if the
// type has no GetUID method. Package lw/codec sets Reader. In programs without lw/codec, Reader is nil.
var Reader func(example any) func(object any) string
