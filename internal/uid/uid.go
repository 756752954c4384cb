// Package uid lets package cache read UIDs that require reflection: GetUID of generated Kubernetes types returns a
// named string type. Package cache must not import reflect, which would double the size of the WASM module.
package uid

// Reader returns a function that reads the UID of objects that have the same type as none. It returns nil if that type
// has no GetUID. Package lw/codec sets Reader. In programs without lw/codec it is nil.
var Reader func(none any) func(object any) string
