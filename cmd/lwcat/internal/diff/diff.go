// Package diff compares JSON values. It ignores the order of members and compares numbers as text.
package diff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Change is a difference at one path.
type Change struct {
	Path     Path
	Old, New lw.Value // values before and after the change; the zero Value if missing
	Reorder  bool     // whether the order of named elements changed; Old and New are then arrays of their names
}

// Compare returns the changes in the order in which they appear in the new value. Within each object or array,
// removed members come last.
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
	ignored, partly := c.filter.skips(path)
	switch {
	case ignored || old == new:
	// An added or removed object is compared by member if the filter ignores some members, so that these are not shown.
	case isObject(old) && isObject(new), partly && (isObject(old) || isObject(new)) && (!old.Exists() || !new.Exists()):
		c.members(path, membersOf(old), membersOf(new))
	case isArray(old) && isArray(new):
		c.arrays(path, old, new)
	case !equal(old, new):
		c.changes = append(c.changes, Change{Path: path, Old: old, New: new})
	}
}

// members compares the members of both values. It begins with the members of the new value, and then compares the
// members that only the old value has. A missing member is the zero Value.
func (c *comparison) members(path Path, before, after members) {
	_, removed := before.shared(after)
	for _, name := range slices.Concat(after.names, removed) {
		c.values(path.to(name), before.values[name], after.values[name])
	}
}

// arrays compares two arrays. Elements with unique names or types, such as containers or conditions, are compared by
// name, so that an inserted element does not change all later ones. Other elements are compared by position.
func (c *comparison) arrays(path Path, old, new lw.Value) {
	before, after := slices.Collect(old.Elements()), slices.Collect(new.Elements())
	for _, key := range []string{"name", "type"} {
		oldMembers, oldNamed := elementsOf(before, key)
		newMembers, newNamed := elementsOf(after, key)
		if oldNamed && newNamed {
			c.members(path, oldMembers, newMembers)
			before, _ := oldMembers.shared(newMembers)
			if after, _ := newMembers.shared(oldMembers); c.filter.selects(path) && !slices.Equal(before, after) {
				c.changes = append(c.changes, Change{Path: path, Old: arrayOf(before), New: arrayOf(after), Reorder: true})
			}
			return
		}
	}
	// Skip the common end, so that an insertion or removal before it does not show it as changed.
	for len(before) > 0 && len(after) > 0 && equal(before[len(before)-1], after[len(after)-1]) {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	longer := max(len(before), len(after))
	before, after = append(before, make([]lw.Value, longer-len(before))...), append(after, make([]lw.Value, longer-len(after))...)
	for i := range longer {
		c.values(path.to(fmt.Sprintf("[%d]", i)), before[i], after[i])
	}
}

func isObject(v lw.Value) bool { return strings.HasPrefix(v.Raw(), "{") }
func isArray(v lw.Value) bool  { return strings.HasPrefix(v.Raw(), "[") }

// members are the members of an object, or the named elements of an array, in order. Their names are steps of a Path.
type members struct {
	names  []string
	values map[string]lw.Value
}

// add adds a member. The last of several members with the same name wins, as in most JSON parsers.
func (m *members) add(name string, value lw.Value) (isNew bool) {
	_, known := m.values[name]
	if !known {
		m.names = append(m.names, name)
	}
	m.values[name] = value
	return !known
}

// shared divides the names of m into two lists: the names that other has, too, and the names that only m has. Both
// lists keep the order of m.
func (m *members) shared(other members) (both, only []string) {
	for _, name := range m.names {
		if _, there := other.values[name]; there {
			both = append(both, name)
		} else {
			only = append(only, name)
		}
	}
	return both, only
}

func membersOf(v lw.Value) members {
	m := members{values: map[string]lw.Value{}}
	for name, value := range v.Members() {
		m.add(escaper.Replace(name), value)
	}
	return m
}

// elementsOf returns an array's elements by name. key is the member that contains an element's name, for example
// "type". ok is false if a name is missing or not unique.
func elementsOf(elements []lw.Value, key string) (m members, ok bool) {
	m.values = map[string]lw.Value{}
	for _, element := range elements {
		name := element.Member(key)
		if name.String() == "" || name.Raw()[0] != '"' || !m.add("["+name.String()+"]", element) {
			return m, false
		}
	}
	return m, true
}

// arrayOf returns the names of elements as a JSON array.
func arrayOf(steps []string) lw.Value {
	names := []string{}
	for _, step := range steps {
		names = append(names, step[1:len(step)-1])
	}
	text, _ := json.Marshal(names)  // encoding strings cannot fail
	value, _ := lw.ParseValue(text) // the text is a JSON array
	return value
}

// equal reports whether two values are equal. It ignores whitespace, escapes and the order of members.
func equal(a, b lw.Value) bool {
	return a == b || a.Exists() && b.Exists() && reflect.DeepEqual(decode(a), decode(b))
}

// decode keeps numbers as text, because floats cannot represent all integers.
func decode(v lw.Value) (value any) {
	decoder := json.NewDecoder(strings.NewReader(v.Raw()))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // a Value is valid JSON
	return value
}

// Path is the location of a value. It consists of member names, in which a backslash escapes dots and brackets, and of
// array elements such as [0], [web] or [Ready].
type Path []string

// String returns the path, for example status.conditions[Ready].message.
func (p Path) String() string {
	return strings.TrimPrefix(strings.ReplaceAll("."+strings.Join(p, "."), ".[", "["), ".")
}

var escaper = strings.NewReplacer(`\`, `\\`, ".", `\.`, "[", `\[`)

// to returns a copy of the path with one more step. A [Change] keeps its path, so paths must not share memory.
func (p Path) to(step string) Path { return append(p[:len(p):len(p)], step) }

// validPath matches a path, and step matches one of its steps with the dot before it.
var (
	validPath = regexp.MustCompile(`^\.?` + stepText + `(?:\[[^\]]+\]|\.` + stepText + `)*$`)
	step      = regexp.MustCompile(`\[[^\]]+\]|` + stepText)
)

const stepText = `(?:[^\\.\[]|\\.)+`

// startsWith reports whether the first steps of p match path. A step [*] in p matches any element.
func (p Path) startsWith(path Path) bool {
	if len(p) < len(path) {
		return false
	}
	for i, step := range path {
		if p[i] != step && (p[i] != "[*]" || !strings.HasPrefix(step, "[")) {
			return false
		}
	}
	return true
}

// Filter selects which parts of an object to compare. The zero Filter selects the whole object.
type Filter struct{ only, ignored []Path }

// NewFilter returns a filter that selects the paths in the parameter "only". If there are no such paths, the filter
// selects the whole object. Either way, it leaves out the ignored paths. A path such as
// metadata.annotations.example\.com/x, status.conditions[*].message or spec.containers[web].image includes its
// descendants.
func NewFilter(only, ignored []string) (f Filter, err error) {
	for i, text := range slices.Concat(only, ignored) {
		if !validPath.MatchString(text) {
			return f, fmt.Errorf("%q is not a path such as status.conditions[*].message", text)
		}
		if path := step.FindAllString(text, -1); i < len(only) {
			f.only = append(f.only, path)
		} else {
			f.ignored = append(f.ignored, path)
		}
	}
	return f, nil
}

// skips reports whether the filter ignores a path, and whether it may ignore a descendant of the path.
func (f Filter) skips(path Path) (whole, part bool) {
	for _, p := range f.ignored {
		if p.startsWith(path) {
			whole, part = whole || len(p) == len(path), part || len(p) > len(path)
		}
	}
	// If the filter selects a descendant of path, path is not ignored, but its other descendants are.
	above := slices.ContainsFunc(f.only, func(p Path) bool { return p.startsWith(path) })
	return whole || !above && !f.selects(path), part || above && !f.selects(path)
}

// selects reports whether the filter selects the whole path, apart from ignored paths.
func (f Filter) selects(path Path) bool {
	return f.only == nil || slices.ContainsFunc(f.only, func(p Path) bool { return len(p) <= len(path) && p.startsWith(path[:len(p)]) })
}
