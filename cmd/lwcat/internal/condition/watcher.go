package condition

import "github.com/seed-6d2a410a/listwatch/lw"

// Watcher evaluates conditions while collections change. It is not safe for concurrent use.
type Watcher struct {
	conditions []*Condition
	matching   []map[objectKey]struct{} // matching objects of each condition
	unlisted   int                      // number of collections whose first list is not complete
	objects    int                      // number of existing objects
}

type objectKey struct {
	collection int
	key        lw.Key
}

// Watch returns a watcher for the given number of collections.
func Watch(conditions []*Condition, collections int) *Watcher {
	w := &Watcher{conditions: conditions, unlisted: collections}
	for range conditions {
		w.matching = append(w.matching, map[objectKey]struct{}{})
	}
	return w
}

// Put adds or updates an object. The error is a *[RolloutError].
func (w *Watcher) Put(collection int, o *lw.Object, isNew bool) (err error) {
	if isNew {
		w.objects++
	}
	key := objectKey{collection, o.Key()}
	for i, c := range w.conditions {
		matches := c.matches(o)
		if c.rollout {
			if matches, err = rolledOut(o); err != nil {
				return err
			}
		}
		if matches {
			w.matching[i][key] = struct{}{}
		} else {
			delete(w.matching[i], key)
		}
	}
	return nil
}

// Delete removes an object.
func (w *Watcher) Delete(collection int, o *lw.Object) {
	w.objects--
	for _, matching := range w.matching {
		delete(matching, objectKey{collection, o.Key()})
	}
}

// Restore records an object of an earlier run. The server has not confirmed yet that the object exists, so no condition
// holds for it before Put. Delete removes it.
func (w *Watcher) Restore() { w.objects++ }

// Complete records that the first list of one more collection is complete.
func (w *Watcher) Complete() { w.unlisted-- }

// Holds reports whether all conditions hold now.
func (w *Watcher) Holds() bool {
	for i := range w.conditions {
		if !w.holds(i) {
			return false
		}
	}
	return true
}

func (w *Watcher) holds(i int) bool {
	matching := len(w.matching[i])
	switch w.conditions[i].over {
	case allOf:
		return w.unlisted == 0 && w.objects > 0 && matching == w.objects
	case noneOf:
		return w.unlisted == 0 && matching == 0
	}
	return matching > 0
}
