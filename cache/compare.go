package cache

import (
	"github.com/seed-6d2a410a/listwatch/internal/uid"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// comparison compares objects of one type.
type comparison[T any] struct {
	version func(T) string    // nil for types without
	uid     func(T) string    // nil for types without
	equal   func(a, b T) bool // the type's own Equal; nil for types without
	byValue bool              // == is defined
}

func newComparison[T any]() (c comparison[T]) {
	var none T
	if any(none) == nil {
		return comparison[T]{version: versionOf[T], uid: uidOf[T], byValue: true}
	}
	if _, ok := any(none).(lw.Keyed); ok {
		c.version = func(object T) string { return any(object).(lw.Keyed).GetResourceVersion() }
	}
	if _, ok := any(none).(interface{ GetUID() string }); ok {
		c.uid = func(object T) string { return any(object).(interface{ GetUID() string }).GetUID() }
	} else if uid.Reader != nil {
		if read := uid.Reader(none); read != nil {
			c.uid = func(object T) string { return read(object) }
		}
	}
	if _, ok := any(none).(interface{ Equal(T) bool }); ok {
		c.equal = func(a, b T) bool { return any(a).(interface{ Equal(T) bool }).Equal(b) }
	}
	c.byValue = isComparable[T]()
	return c
}

// versionOf returns the resourceVersion of an object of an interface type, or "".
func versionOf[T any](object T) string {
	if keyed, ok := any(object).(lw.Keyed); ok {
		return keyed.GetResourceVersion()
	}
	return ""
}

// uidOf returns the UID of an object of an interface type, or "".
func uidOf[T any](object T) string {
	if o, ok := any(object).(interface{ GetUID() string }); ok {
		return o.GetUID()
	}
	if uid.Reader != nil {
		if read := uid.Reader(object); read != nil {
			return read(object)
		}
	}
	return ""
}

// isComparable reports whether == is defined for a type that is not an interface.
func isComparable[T any]() (ok bool) {
	defer func() { recover() }() // from a type that does not have it
	var none T
	return any(none) != nil && any(none) == any(none) //nolint:staticcheck // it panics where == is not defined
}

// recreated reports whether two objects of one key have different UIDs. An object without a UID is never recreated.
func (c *comparison[T]) recreated(old, object T) bool {
	if c.uid == nil {
		return false
	}
	before, now := c.uid(old), c.uid(object)
	return before != "" && now != "" && before != now
}

// unchanged reports whether an object that comes under a known key is what is known. The version tells, if there is one;
// where the text can be compared it must agree, as a restored backup gives versions out a second time.
func (c *comparison[T]) unchanged(old, object T, doubtful bool) bool {
	if c.version != nil {
		if version := c.version(object); version == "" || version != c.version(old) {
			return false
		}
	}
	switch {
	case c.equal != nil:
		return c.equal(old, object)
	case c.version != nil:
		return !doubtful
	}
	return c.byValue && equalValues(old, object)
}

// identical reports whether two objects of two snapshots are the same.
func (c *comparison[T]) identical(a, b T) bool {
	switch {
	case c.byValue:
		return equalValues(a, b)
	case c.equal != nil:
		return c.equal(a, b)
	case c.version != nil:
		return c.version(a) != "" && c.version(a) == c.version(b)
	}
	return false
}

// equalValues compares by ==. Values are different if they or a field of theirs hold a type for which == is not defined.
func equalValues(a, b any) (equal bool) {
	defer func() { recover() }()
	return a == b
}
