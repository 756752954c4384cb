package condition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Watcher evaluates conditions while collections change. It is not safe for concurrent use.
type Watcher struct {
	conditions []*Condition
	matching   []map[objectKey]*lw.Object // for each condition, the objects that match it
	unlisted   int                        // number of incomplete first lists; while positive, "all" and "none" cannot hold
	objects    int                        // number of existing objects in all collections
	deleted    *lw.Object                 // the object that was deleted last, or nil; see Results
}

// objectKey identifies an object, because different collections may contain objects with the same key.
type objectKey struct {
	collection string
	key        lw.Key
}

// Watch returns a watcher for the given number of collections.
func Watch(conditions []*Condition, collections int) *Watcher {
	w := &Watcher{conditions: conditions, unlisted: collections}
	for range conditions {
		w.matching = append(w.matching, map[objectKey]*lw.Object{})
	}
	return w
}

// Put adds or updates an object. isNew must be true if the object was added. Put returns an error if a rollout can no
// longer complete.
func (w *Watcher) Put(collection string, o *lw.Object, isNew bool) (err error) {
	if isNew {
		w.objects++
	}
	key := objectKey{collection, lw.KeyOf(o)}
	for i, c := range w.conditions {
		matches := c.Matches(o)
		if c.Rollout {
			if matches, err = rolledOut(o); err != nil {
				return err
			}
		}
		if matches {
			w.matching[i][key] = o
		} else {
			delete(w.matching[i], key)
		}
	}
	return nil
}

// Delete removes an object.
func (w *Watcher) Delete(collection string, o *lw.Object) {
	w.objects--
	w.deleted = o
	for _, matching := range w.matching {
		delete(matching, objectKey{collection, lw.KeyOf(o)})
	}
}

// Results returns the objects that match the first condition, sorted by name. If the first condition is "deleted" or
// "none", no object matches it when it holds. Results then returns the object that was deleted last, if any.
func (w *Watcher) Results() (objects []*lw.Object) {
	if w.conditions[0].over == noneOf && w.deleted != nil {
		return []*lw.Object{w.deleted}
	}
	for _, o := range w.matching[0] {
		objects = append(objects, o)
	}
	slices.SortFunc(objects, func(a, b *lw.Object) int { return strings.Compare(lw.KeyOf(a).String(), lw.KeyOf(b).String()) })
	return objects
}

// Restore counts an object from an earlier run. The server has not yet confirmed that the object exists, so the object
// matches no condition until Put is called for it. If the object was deleted instead, call Delete.
func (w *Watcher) Restore() { w.objects++ }

// Complete records that the first list of one more collection is complete.
func (w *Watcher) Complete() { w.unlisted-- }

// Holds reports whether all conditions hold now. It returns false if there are no conditions.
func (w *Watcher) Holds() bool {
	for i := range w.conditions {
		if !w.holds(i) {
			return false
		}
	}
	return len(w.conditions) > 0
}

func (w *Watcher) holds(i int) bool {
	matching := len(w.matching[i])
	switch w.conditions[i].over {
	case allOf:
		return w.unlisted == 0 && w.objects > 0 && matching == w.objects
	case countOf:
		return w.unlisted == 0 && jsonpath.Holds(strconv.Itoa(matching), w.conditions[i].compare, w.conditions[i].count)
	case noneOf:
		return w.unlisted == 0 && matching == 0
	}
	return matching > 0
}

// rolledOut reports whether an object's rollout is complete, by the same rules as kubectl rollout status.
func rolledOut(o *lw.Object) (done bool, err error) {
	switch kind := o.Kind(); {
	case kind != "Deployment" && kind != "StatefulSet" && kind != "DaemonSet":
		return false, fmt.Errorf("%s: %s has no rollout: use condition=Ready or a field", lw.KeyOf(o), kind)
	case kind != "Deployment" && cmp.Or(o.Get("spec.updateStrategy.type").String(), "RollingUpdate") != "RollingUpdate":
		return false, fmt.Errorf("%s: the update strategy is not RollingUpdate, so the rollout has no status", lw.KeyOf(o))
	}
	number := func(path string) int64 { return o.Get(path).Int() }
	if observed := number("status.observedGeneration"); observed == 0 || observed < number("metadata.generation") {
		return false, nil
	}
	desired := o.Get("spec.replicas")
	updated := number("status.updatedReplicas")
	switch o.Kind() {
	case "Deployment":
		for condition := range o.Get("status.conditions").Elements() {
			if condition.Get("type").String() == "Progressing" && condition.Get("reason").String() == "ProgressDeadlineExceeded" {
				return false, fmt.Errorf("%s: the rollout exceeded its progress deadline", lw.KeyOf(o))
			}
		}
		return updated >= desired.Int() && number("status.replicas") <= updated && number("status.availableReplicas") >= updated, nil
	case "DaemonSet":
		wanted := number("status.desiredNumberScheduled")
		return number("status.updatedNumberScheduled") >= wanted && number("status.numberAvailable") >= wanted, nil
	default:
		partition := o.Get("spec.updateStrategy.rollingUpdate.partition")
		switch {
		case number("status.readyReplicas") < desired.Int():
			return false, nil
		case o.Get("spec.updateStrategy.rollingUpdate").Exists():
			return !desired.Exists() || !partition.Exists() || updated >= desired.Int()-partition.Int(), nil
		}
		return o.Get("status.updateRevision").String() == o.Get("status.currentRevision").String(), nil
	}
}
