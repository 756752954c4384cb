package condition

import "github.com/seed-6d2a410a/listwatch/lw"

// Watcher tells when a condition holds in collections whose changes it sees. One goroutine at a time may use it.
type Watcher struct {
	condition *Condition
	unlisted  int // collections that are not complete
	objects   int // that there are
	matching  map[objectKey]struct{}
}

type objectKey struct {
	collection int
	key        lw.Key
}

// Watch returns a watcher of so many collections.
func (c *Condition) Watch(collections int) *Watcher {
	return &Watcher{condition: c, unlisted: collections, matching: map[objectKey]struct{}{}}
}

// Put tells of an object that is new, or that has changed.
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

// Delete tells of an object that is gone.
func (w *Watcher) Delete(collection int, o *lw.Object) {
	w.objects--
	delete(w.matching, objectKey{collection, o.Key()})
}

// Complete tells that all of one more collection has been put.
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
