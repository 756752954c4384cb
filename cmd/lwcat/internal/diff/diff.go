// Package diff says what changed between two JSON values: for people, with elements of arrays called by their names, and as
// JSON Patch. Members have no order, numbers are compared as text.
package diff

import (
	"slices"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Change is one difference.
type Change struct {
	Path     Path
	Old, New lw.Value // "" where the value is not there
	Reorder  bool     // the elements of an array are where others were; Old and New are arrays of their names
}

// Compare returns what changed, in the order of the new value, with what is gone from an object or array at its end.
func Compare(old, new lw.Value, filter Filter) []Change {
	c := comparison{filter: filter}
	c.values(nil, old, new)
	return c.changes
}

type comparison struct {
	filter  Filter
	changes []Change
}

func (c *comparison) values(path Path, old, new lw.Value) {
	switch {
	case c.filter.skips(path) || old == new:
	case isObject(old) && isObject(new), c.filter.skipsWithin(path) && (isObject(old) || isObject(new)) && (old == "" || new == ""):
		c.objects(path, old, new)
	case isArray(old) && isArray(new):
		c.arrays(path, old, new)
	case !equal(old, new):
		c.changes = append(c.changes, Change{Path: path, Old: old, New: new})
	}
}

func (c *comparison) objects(path Path, old, new lw.Value) {
	before, after := membersOf(old), membersOf(new)
	for _, name := range after.names {
		c.values(path.to(Step{Name: name}), before.values[name], after.values[name])
	}
	for _, name := range before.names {
		if _, there := after.values[name]; !there {
			c.values(path.to(Step{Name: name}), before.values[name], "")
		}
	}
}

func (c *comparison) arrays(path Path, old, new lw.Value) {
	before, after := elementsOf(old), elementsOf(new)
	for _, key := range []string{"name", "type"} {
		was, ok := namesOf(before, key)
		is, too := namesOf(after, key)
		if ok && too {
			c.named(path, was, is)
			return
		}
	}
	first, last := trim(before, after)
	for i := first; i < len(after)-last; i++ {
		value := lw.Value("")
		if i < len(before)-last {
			value = before[i]
		}
		c.values(path.to(Step{Index: i, Element: true}), value, after[i])
	}
	for i := max(first, len(after)-last); i < len(before)-last; i++ {
		c.values(path.to(Step{Index: i, Element: true}), before[i], "")
	}
}

// named compares arrays whose elements have names.
func (c *comparison) named(path Path, before, after members) {
	for i, name := range after.names {
		c.values(path.to(Step{Name: name, Index: i, Element: true}), before.values[name], after.values[name])
	}
	for i, name := range before.names {
		if _, there := after.values[name]; !there {
			c.values(path.to(Step{Name: name, Index: i, Element: true}), before.values[name], "")
		}
	}
	was, is := common(before, after), common(after, before)
	if !slices.Equal(was, is) {
		c.changes = append(c.changes, Change{Path: path, Old: arrayOf(was), New: arrayOf(is), Reorder: true})
	}
}

// common returns the names that both have, in the order of a.
func common(a, b members) (names []string) {
	for _, name := range a.names {
		if _, there := b.values[name]; there {
			names = append(names, name)
		}
	}
	return names
}

// trim returns how many elements at the beginning and at the end are the same.
func trim(old, new []lw.Value) (first, last int) {
	shorter := min(len(old), len(new))
	for first < shorter && equal(old[first], new[first]) {
		first++
	}
	for last < shorter-first && equal(old[len(old)-1-last], new[len(new)-1-last]) {
		last++
	}
	return first, last
}
