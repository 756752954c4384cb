// Package uid lets package cache read UIDs that only reflection can read. Generated Kubernetes types return a named string
// type from GetUID. Package cache must not import reflect, which would double the size of a browser's program.
package uid

// Reader returns a func that reads the UID of objects of the same type as none, or nil if that type has no GetUID.
// Package lw/codec sets it. In a program without lw/codec it is nil.
var Reader func(none any) func(object any) string
