// Package diff compares JSON values. It ignores the order of members and compares numbers as text.
package diff

import (
	"slices"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Change is one difference.
type Change struct {
	Path     Path
	Old, New lw.Value // values before and after the change; the zero Value if missing
	Reorder  bool     // only the order of the elements changed; Old and New are arrays of their names
}

// Compare returns the changes in the order of the new value. Within each object or array, removed members come last.
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
	case isObject(old) && isObject(new), c.filter.skipsWithin(path) && (isObject(old) || isObject(new)) && (!old.Exists() || !new.Exists()):
		c.objects(path, old, new)
	case isArray(old) && isArray(new):
		c.arrays(path, old, new)
	case !equal(old, new):
		c.changes = append(c.changes, Change{Path: path, Old: old, New: new})
	}
}

func (c *comparison) objects(path Path, old, new lw.Value) {
	eachMember(path, membersOf(old), membersOf(new), false, c.values)
}

// eachMember visits the members of both values: first those of the new value, then those that only the old value has.
// A missing value is the zero Value. The members are elements of an array if element is true.
func eachMember(path Path, before, after members, element bool, visit func(path Path, old, new lw.Value)) {
	step := func(name string, i int) Path {
		if element {
			return path.to(Step{Name: name, Index: i, Element: true})
		}
		return path.to(Step{Name: name})
	}
	for i, name := range after.names {
		visit(step(name, i), before.values[name], after.values[name])
	}
	for i, name := range before.names {
		if _, there := after.values[name]; !there {
			visit(step(name, i), before.values[name], lw.Value{})
		}
	}
}

func (c *comparison) arrays(path Path, old, new lw.Value) {
	before, after := elementsOf(old), elementsOf(new)
	for _, key := range []string{"name", "type"} {
		was, ok := namesOf(before, key)
		is, too := namesOf(after, key)
		if ok && too {
			c.namedArrays(path, was, is)
			return
		}
	}
	first, last := commonEnds(before, after)
	for i := first; i < len(after)-last; i++ {
		var value lw.Value
		if i < len(before)-last {
			value = before[i]
		}
		c.values(path.to(Step{Index: i, Element: true}), value, after[i])
	}
	for i := max(first, len(after)-last); i < len(before)-last; i++ {
		c.values(path.to(Step{Index: i, Element: true}), before[i], lw.Value{})
	}
}

// namedArrays compares two arrays with named elements.
func (c *comparison) namedArrays(path Path, before, after members) {
	eachMember(path, before, after, true, c.values)
	was, is := sharedNames(before, after), sharedNames(after, before)
	if !slices.Equal(was, is) {
		c.changes = append(c.changes, Change{Path: path, Old: arrayOf(was), New: arrayOf(is), Reorder: true})
	}
}

// sharedNames returns the names that a and b share, in the order of a.
func sharedNames(a, b members) (names []string) {
	for _, name := range a.names {
		if _, there := b.values[name]; there {
			names = append(names, name)
		}
	}
	return names
}

// commonEnds returns the numbers of equal elements at the start and at the end.
func commonEnds(old, new []lw.Value) (first, last int) {
	shorter := min(len(old), len(new))
	for first < shorter && equal(old[first], new[first]) {
		first++
	}
	for last < shorter-first && equal(old[len(old)-1-last], new[len(new)-1-last]) {
		last++
	}
	return first, last
}
