package condition

import "github.com/seed-6d2a410a/listwatch/lw"

// Watcher tells when a condition holds in collections whose changes it sees. One goroutine at a time may use it.
type Watcher struct {
	condition *Condition
	awaited   int // collections that are not complete
	objects   int // that there are
	fulfilled map[objectKey]struct{}
}

type objectKey struct {
	collection int
	key        lw.Key
}

// Watch returns a watcher of so many collections.
func (c *Condition) Watch(collections int) *Watcher {
	return &Watcher{condition: c, awaited: collections, fulfilled: map[objectKey]struct{}{}}
}

// Put tells of an object that is new, or that has changed.
func (w *Watcher) Put(collection int, o *lw.Object, isNew bool) {
	if isNew {
		w.objects++
	}
	key := objectKey{collection, o.Key()}
	if w.condition.fulfilled(o) {
		w.fulfilled[key] = struct{}{}
	} else {
		delete(w.fulfilled, key)
	}
}

// Delete tells of an object that is gone.
func (w *Watcher) Delete(collection int, o *lw.Object) {
	w.objects--
	delete(w.fulfilled, objectKey{collection, o.Key()})
}

// Complete tells that all of one more collection has been put.
func (w *Watcher) Complete() { w.awaited-- }

// Holds reports whether the condition holds now.
func (w *Watcher) Holds() bool {
	switch w.condition.over {
	case allOf:
		return w.awaited == 0 && w.objects > 0 && len(w.fulfilled) == w.objects
	case noneOf:
		return w.awaited == 0 && len(w.fulfilled) == 0
	}
	return len(w.fulfilled) > 0
}
