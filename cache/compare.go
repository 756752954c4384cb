package cache

import "github.com/seed-6d2a410a/listwatch/lw"

// comparison contains the funcs that compare objects of type T.
type comparison[T any] struct {
	version func(T) string    // T's own method, because no Identity can replace it; nil if T is not an lw.Keyed
	uid     func(T) string    // nil if T has no UID
	equal   func(a, b T) bool // nil if neither the Identity nor T has an Equal func
}

// newComparison takes the funcs from identity. If a func is nil, it uses T's own method instead.
func newComparison[T any](identity lw.Identity[T]) comparison[T] {
	c := comparison[T]{version: getter[T](lw.Keyed.GetResourceVersion), uid: identity.UID, equal: identity.Equal}
	if c.uid == nil {
		c.uid = getter[T](hasUID.GetUID)
	}
	var none T
	if _, ok := any(none).(interface{ Equal(T) bool }); c.equal == nil && ok {
		c.equal = func(a, b T) bool { return any(a).(interface{ Equal(T) bool }).Equal(b) }
	}
	return c
}

// hasUID declares the method that Identity.UID replaces. The interface is named because go vet fails on method
// expressions of unnamed interfaces.
type hasUID interface{ GetUID() string }

// getter returns a func that calls get on an object, or returns "" if the object lacks the method. If T is a concrete
// type without the method, getter returns nil, so that the store need not check every object.
func getter[T, I any](get func(I) string) func(T) string {
	var none T
	if _, ok := any(none).(I); !ok && any(none) != nil {
		return nil
	}
	return func(object T) string {
		if o, ok := any(object).(I); ok {
			return get(o)
		}
		return ""
	}
}

// recreated reports whether two objects with the same key have different UIDs. It returns false if either object has no
// UID.
func (c *comparison[T]) recreated(old, object T) bool {
	if c.uid == nil {
		return false
	}
	before, now := c.uid(old), c.uid(object)
	return before != "" && now != "" && before != now
}

// unchanged reports whether object equals old, the stored object with the same key. Objects with different or empty
// resourceVersions always differ. Without an Equal func, objects with the same resourceVersion count as equal if
// doubtful is false. doubtful means that the server may have reused a resourceVersion for another state of the object,
// for example because the server was restored from a backup. If T has neither resourceVersions nor an Equal func, ==
// compares the objects. If T does not support ==, they always differ.
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
	return equalValues(old, object)
}

// equalValues reports whether a == b. It returns false if the values contain a type that does not support ==.
func equalValues(a, b any) bool {
	defer func() { recover() }() // == panics for such a type
	return a == b
}
