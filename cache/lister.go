package cache

import "github.com/seed-6d2a410a/listwatch/lw"

// ByNamespace indexes objects by their namespace, for [NewIndex].
func ByNamespace[T lw.Keyed](object T, keys []string) []string {
	return append(keys, object.GetNamespace())
}

// ByLabel indexes objects by the value of a label; those without it have no key.
func ByLabel(name string) func(*lw.Object, []string) []string {
	return func(object *lw.Object, keys []string) []string {
		if value, ok := object.Label(name); ok {
			keys = append(keys, value)
		}
		return keys
	}
}

// ByOwner indexes objects by the UIDs of their owners.
func ByOwner(object *lw.Object, keys []string) []string {
	for owner := range object.OwnerReferences() {
		keys = append(keys, owner.UID)
	}
	return keys
}

// ByField indexes objects by the field at a path, see [lw.Value.Get]: by its text if it is a string, by its JSON if it is
// another scalar, and by each of its elements if it is an array. An object without the field, or with an object or null
// there, has no key.
func ByField(path string) func(*lw.Object, []string) []string {
	return func(object *lw.Object, keys []string) []string {
		return appendScalars(keys, object.Get(path))
	}
}

// Lister reads a store by namespace.
type Lister[T lw.Keyed] struct {
	store *Store[T]
	index *Index[T, string]
}

// NewLister returns a lister of a store, to which it adds an index by namespace.
func NewLister[T lw.Keyed](store *Store[T]) *Lister[T] {
	return &Lister[T]{store: store, index: NewIndex(store, ByNamespace[T])}
}

// Get returns an object by namespace, which is "" for those that live in none, and name.
func (l *Lister[T]) Get(namespace, name string) (object T, ok bool) {
	return l.store.Get(lw.Key{Namespace: namespace, Name: name})
}

// List returns the objects of a namespace, in no particular order; those of all namespaces for "". It costs in proportion
// to their number.
func (l *Lister[T]) List(namespace string) []T {
	if namespace == "" {
		return l.store.List()
	}
	return l.index.List(namespace)
}

// Close takes the lister's index from the store.
func (l *Lister[T]) Close() { l.index.Close() }

// appendScalars appends the text of a scalar, or of each scalar of an array.
func appendScalars(keys []string, value lw.Value) []string {
	switch {
	case !value.Exists(), value[0] == '{', value == "null":
		return keys
	case value[0] == '[':
		for element := range value.Elements() {
			if element[0] != '[' {
				keys = appendScalars(keys, element)
			}
		}
		return keys
	}
	return append(keys, value.String())
}
