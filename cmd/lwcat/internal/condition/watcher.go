package condition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Watcher evaluates conditions while collections change. It is not safe for concurrent use.
type Watcher struct {
	conditions []*Condition
	matching   []map[objectKey]*lw.Object // for each condition, the objects that match it
	objects    map[objectKey]*lw.Object   // the existing objects of all collections; an object from Restore is nil until Put
	unlisted   int                        // number of incomplete first lists; while positive, "all" and "none" cannot hold
	deleted    *lw.Object                 // the object that was deleted last, or nil; see Results
}

// objectKey identifies an object, because different collections may contain objects with the same key.
type objectKey struct {
	collection string
	key        lw.Key
}

// Watch returns a watcher for the given number of collections.
func Watch(conditions []*Condition, collections int) *Watcher {
	w := &Watcher{conditions: conditions, objects: map[objectKey]*lw.Object{}, unlisted: collections}
	for range conditions {
		w.matching = append(w.matching, map[objectKey]*lw.Object{})
	}
	return w
}

// Put adds or updates an object. It returns an error if a rollout can no longer complete.
func (w *Watcher) Put(collection string, o *lw.Object) error {
	key := objectKey{collection, lw.KeyOf(o)}
	w.objects[key] = o
	for i, c := range w.conditions {
		matches := c.Matches(o)
		if c.rollout {
			step, err := rollout(o)
			if err != nil {
				return err
			}
			matches = step == ""
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
	w.deleted = o
	for _, objects := range append(w.matching, w.objects) {
		delete(objects, objectKey{collection, lw.KeyOf(o)})
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
func (w *Watcher) Restore(collection string, o *lw.Object) {
	w.objects[objectKey{collection, lw.KeyOf(o)}] = nil
}

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
		return w.unlisted == 0 && matching > 0 && matching == len(w.objects)
	case countOf:
		return w.unlisted == 0 && jsonpath.Holds(strconv.Itoa(matching), w.conditions[i].compare, w.conditions[i].Count)
	case noneOf:
		return w.unlisted == 0 && matching == 0
	}
	return matching > 0
}

// Unmet explains why the conditions do not hold. It returns a line for up to maxUnmet objects that keep a condition from
// holding. The line contains the current values of the condition's fields.
func (w *Watcher) Unmet() (lines []string) {
	for i, c := range w.conditions {
		if c.over == countOf && !w.holds(i) {
			lines = append(lines, fmt.Sprintf("%d of %d objects match", len(w.matching[i]), len(w.objects)))
		}
		for key, o := range w.objects {
			_, matches := w.matching[i][key]
			if o != nil && c.over != countOf && matches == (c.over == noneOf) && !w.holds(i) {
				lines = append(lines, output.Name(o)+": "+c.state(o))
			}
		}
	}
	slices.Sort(lines)
	if len(lines) == 0 && len(w.objects) == 0 && len(w.conditions) > 0 && w.unlisted == 0 {
		return []string{"no object exists"}
	}
	if more := len(lines) - maxUnmet; more > 0 {
		lines = append(lines[:maxUnmet], fmt.Sprintf("and %d more", more))
	}
	return lines
}

// maxUnmet limits the lines of [Watcher.Unmet], because a collection may have thousands of objects.
const maxUnmet = 3

// rollout returns the step that an object's rollout waits for, or "" if the rollout is complete. The rules and most words
// are those of kubectl rollout status.
func rollout(o *lw.Object) (step string, err error) {
	switch kind := o.Kind(); {
	case kind != "Deployment" && kind != "StatefulSet" && kind != "DaemonSet":
		return "", fmt.Errorf("%s: %s has no rollout: use condition=Ready or a field", lw.KeyOf(o), kind)
	case kind != "Deployment" && cmp.Or(o.Get("spec.updateStrategy.type").String(), "RollingUpdate") != "RollingUpdate":
		return "", fmt.Errorf("%s: the update strategy is not RollingUpdate, so the rollout has no status", lw.KeyOf(o))
	}
	number := func(path string) int64 { return o.Get(path).Int() }
	if observed := number("status.observedGeneration"); observed == 0 || observed < number("metadata.generation") {
		return "the controller has not observed the latest change", nil
	}
	wanted, updated, available, old := number("spec.replicas"), number("status.updatedReplicas"), number("status.availableReplicas"), int64(0)
	switch o.Kind() {
	case "Deployment":
		for condition := range o.Get("status.conditions").Elements() {
			if condition.Get("type").String() == "Progressing" && condition.Get("reason").String() == "ProgressDeadlineExceeded" {
				return "", fmt.Errorf("%s: the rollout exceeded its progress deadline", lw.KeyOf(o))
			}
		}
		old = number("status.replicas") - updated
	case "DaemonSet":
		wanted = number("status.desiredNumberScheduled")
		// As in kubectl, only the wanted number of updated Pods must be available.
		updated, available = min(wanted, number("status.updatedNumberScheduled")), number("status.numberAvailable")
	default:
		strategy, ready, revision := o.Get("spec.updateStrategy.rollingUpdate"), number("status.readyReplicas"), o.Get("status.updateRevision").String()
		switch partition := strategy.Get("partition"); {
		case ready < wanted:
			return fmt.Sprintf("%d of %d replicas are ready", ready, wanted), nil
		case partition.Exists() && updated < wanted-partition.Int():
			return fmt.Sprintf("%d out of %d new replicas have been updated", updated, wanted-partition.Int()), nil
		case !strategy.Exists() && revision != o.Get("status.currentRevision").String():
			return fmt.Sprintf("%d replicas are at revision %s", updated, revision), nil
		}
		return "", nil
	}
	switch {
	case updated < wanted:
		return fmt.Sprintf("%d out of %d new replicas have been updated", updated, wanted), nil
	case old > 0:
		return fmt.Sprintf("%d old replicas are pending termination", old), nil
	case available < updated:
		return fmt.Sprintf("%d of %d updated replicas are available", available, updated), nil
	}
	return "", nil
}
