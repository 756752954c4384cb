package cache

import "github.com/seed-6d2a410a/listwatch/lw"

// ByNamespace indexes objects by namespace. Pass it to [NewIndex].
func ByNamespace[T lw.Keyed](object T, keys []string) []string {
	return append(keys, object.GetNamespace())
}

// ByLabel indexes objects by the value of a label. An object without the label is not in the index.
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
	for owner := range object.Get("metadata.ownerReferences").Elements() {
		keys = append(keys, owner.Member("uid").String())
	}
	return keys
}

// ByField indexes objects by the field at path; see [lw.Value.Get]. A string is indexed by its text, any other scalar
// by its JSON, and an array by each of its scalar elements. If the field is missing, null or a JSON object, the object
// is not in the index.
func ByField(path string) func(*lw.Object, []string) []string {
	return func(object *lw.Object, keys []string) []string {
		return appendScalars(keys, object.Get(path))
	}
}

// Lister finds the objects of a store by namespace, name or label selector.
type Lister[T lw.Keyed] struct {
	store *Store[T]
	index *Index[T, string]
}

// NewLister returns a lister for a store. It adds a namespace index to the store.
func NewLister[T lw.Keyed](store *Store[T]) *Lister[T] {
	return &Lister[T]{store: store, index: NewIndex(store, ByNamespace[T])}
}

// Get returns the object with this namespace and name. ok is false if there is no such object. The namespace of a
// cluster-scoped object is "".
func (l *Lister[T]) Get(namespace, name string) (object T, ok bool) {
	return l.store.Get(lw.Key{Namespace: namespace, Name: name})
}

// List returns the objects of a namespace, in no particular order. An empty namespace means all namespaces. The cost is
// proportional to the number of objects returned.
func (l *Lister[T]) List(namespace string) []T {
	if namespace == "" {
		return l.store.List()
	}
	return l.index.List(namespace)
}

// appendScalars appends a scalar value as a string. For an array, it appends each scalar element.
func appendScalars(keys []string, value lw.Value) []string {
	switch {
	case !value.Exists(), value.Raw()[0] == '{', value.Raw() == "null":
		return keys
	case value.Raw()[0] == '[':
		for element := range value.Elements() {
			if element.Raw()[0] != '[' {
				keys = appendScalars(keys, element)
			}
		}
		return keys
	}
	return append(keys, value.String())
}
