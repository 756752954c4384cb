package condition

import "github.com/seed-6d2a410a/listwatch/lw"

// Watcher evaluates a condition while collections change. It is not safe for concurrent use.
type Watcher struct {
	condition *Condition
	unlisted  int // number of incomplete collections
	objects   int // number of existing objects
	matching  map[objectKey]struct{}
}

type objectKey struct {
	collection int
	key        lw.Key
}

// Watch returns a watcher for the given number of collections.
func (c *Condition) Watch(collections int) *Watcher {
	return &Watcher{condition: c, unlisted: collections, matching: map[objectKey]struct{}{}}
}

// Put adds or updates an object.
func (w *Watcher) Put(collection int, o *lw.Object, isNew bool) {
	if isNew {
		w.objects++
	}
	key := objectKey{collection, o.Key()}
	if w.condition.matches(o) {
		w.matching[key] = struct{}{}
	} else {
		delete(w.matching, key)
	}
}

// Delete removes an object.
func (w *Watcher) Delete(collection int, o *lw.Object) {
	w.objects--
	delete(w.matching, objectKey{collection, o.Key()})
}

// Complete records that the first list of one more collection is complete.
func (w *Watcher) Complete() { w.unlisted-- }

// Holds reports whether the condition holds now.
func (w *Watcher) Holds() bool {
	switch w.condition.over {
	case allOf:
		return w.unlisted == 0 && w.objects > 0 && len(w.matching) == w.objects
	case noneOf:
		return w.unlisted == 0 && len(w.matching) == 0
	}
	return len(w.matching) > 0
}
