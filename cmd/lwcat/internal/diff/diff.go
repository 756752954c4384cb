// Package diff compares JSON values. It ignores the order of members and compares numbers as text.
package diff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Change is a difference at one path.
type Change struct {
	Path     Path
	Old, New lw.Value // values before and after the change; the zero Value if missing
	Reorder  bool     // only the order of the elements changed; Old and New are arrays of their names
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
	case isObject(old) && isObject(new), partly && (isObject(old) || isObject(new)) && (!old.Exists() || !new.Exists()):
		c.members(path, membersOf(old), membersOf(new), false)
	case isArray(old) && isArray(new):
		c.arrays(path, old, new)
	case !equal(old, new):
		c.changes = append(c.changes, Change{Path: path, Old: old, New: new})
	}
}

// members compares the members of both values: first those of the new value, then those that only the old value
// has. A missing member is the zero Value. If element is true, the members are array elements.
func (c *comparison) members(path Path, before, after members, element bool) {
	for i, name := range after.names {
		c.values(path.to(Step{name, i, element}), before.values[name], after.values[name])
	}
	for i, name := range before.names {
		if _, there := after.values[name]; !there {
			c.values(path.to(Step{name, i, element}), before.values[name], lw.Value{})
		}
	}
}

func (c *comparison) arrays(path Path, old, new lw.Value) {
	before, after := slices.Collect(old.Elements()), slices.Collect(new.Elements())
	for _, key := range []string{"name", "type"} {
		was, ok := namesOf(before, key)
		is, too := namesOf(after, key)
		if ok && too {
			c.members(path, was, is, true)
			if before, after := sharedNames(was, is), sharedNames(is, was); !slices.Equal(before, after) {
				c.changes = append(c.changes, Change{Path: path, Old: arrayOf(before), New: arrayOf(after), Reorder: true})
			}
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

// sharedNames returns the names that a and b share, in the order of a.
func sharedNames(a, b members) (names []string) {
	for _, name := range a.names {
		if _, there := b.values[name]; there {
			names = append(names, name)
		}
	}
	return names
}

// commonEnds returns how many elements are equal at the start and at the end.
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

func isObject(v lw.Value) bool { return strings.HasPrefix(v.Raw(), "{") }
func isArray(v lw.Value) bool  { return strings.HasPrefix(v.Raw(), "[") }

// members are the members of an object, or the named elements of an array, in order.
type members struct {
	names  []string
	values map[string]lw.Value
}

// membersOf returns the members of an object. The last of several members with the same name wins, as in most JSON
// parsers.
func membersOf(v lw.Value) members {
	m := members{values: map[string]lw.Value{}}
	for name, value := range v.Members() {
		if _, twice := m.values[name]; !twice {
			m.names = append(m.names, name)
		}
		m.values[name] = value
	}
	return m
}

// namesOf returns an array's elements by name. key is the member that contains an element's name, for example
// "type". ok is false if a name is missing or not unique.
func namesOf(elements []lw.Value, key string) (m members, ok bool) {
	m.values = map[string]lw.Value{}
	for _, element := range elements {
		value := element.Member(key)
		name := value.String()
		if _, twice := m.values[name]; twice || name == "" || value.Raw()[0] != '"' {
			return m, false
		}
		m.names = append(m.names, name)
		m.values[name] = element
	}
	return m, true
}

func arrayOf(names []string) lw.Value {
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

// Step selects a member of an object or an element of an array.
type Step struct {
	Name    string // name of the member, or the name or type of the element
	Index   int    // index in the new array, or in the old array for removed elements; ignored for members
	Element bool
}

// Path is the location of a value.
type Path []Step

// String returns the path in the syntax that [Ignoring] accepts, for example status.conditions[Ready].message.
func (p Path) String() string {
	var text strings.Builder
	for i, step := range p {
		switch {
		case step.Element && step.Name != "":
			text.WriteString("[" + step.Name + "]")
		case step.Element:
			text.WriteString("[" + strconv.Itoa(step.Index) + "]")
		default:
			if i > 0 {
				text.WriteByte('.')
			}
			text.WriteString(escaper.Replace(step.Name))
		}
	}
	return text.String()
}

var escaper = strings.NewReplacer(`\`, `\\`, ".", `\.`, "[", `\[`)

// to returns a copy of the path with one more step.
func (p Path) to(step Step) Path { return append(p[:len(p):len(p)], step) }

// pattern is a path in which [*] matches any element.
type pattern []Step

// stepPattern matches one step of a pattern: an element in brackets, or a name in which a backslash escapes a character.
var (
	stepPattern = regexp.MustCompile(`^(?:\[([^\]]+)\]|\.?((?:[^\\.\[]|\\.)+))`)
	escaped     = regexp.MustCompile(`\\(.)`)
)

// parsePattern parses a path such as metadata.annotations.example\.com/x, status.conditions[*].message or
// spec.containers[web].image.
func parsePattern(text string) (p pattern, err error) {
	for rest := text; rest != "" || p == nil; {
		step := stepPattern.FindStringSubmatch(rest)
		if step == nil {
			return nil, fmt.Errorf("%q is not a path such as status.conditions[*].message: syntax error at %q", text, rest)
		}
		p = append(p, Step{Name: step[1] + escaped.ReplaceAllString(step[2], "$1"), Element: step[1] != ""})
		rest = rest[len(step[0]):]
	}
	return p, nil
}

// startsWith reports whether the pattern's first steps match path.
func (p pattern) startsWith(path Path) bool {
	if len(p) < len(path) {
		return false
	}
	for i, step := range path {
		if p[i].Element != step.Element {
			return false
		}
		if p[i].Name == step.Name || step.Element && (p[i].Name == "*" || p[i].Name == strconv.Itoa(step.Index)) {
			continue
		}
		return false
	}
	return true
}

// Filter selects which parts of an object to compare. The zero Filter selects the whole object.
type Filter []pattern

// Ignoring returns a filter that ignores these paths and their descendants.
func Ignoring(paths []string) (f Filter, err error) {
	for _, path := range paths {
		p, err := parsePattern(path)
		if err != nil {
			return f, err
		}
		f = append(f, p)
	}
	return f, nil
}

// skips reports whether the filter ignores a path, and whether it may ignore a descendant of the path.
func (f Filter) skips(path Path) (whole, part bool) {
	for _, p := range f {
		if p.startsWith(path) {
			whole, part = whole || len(p) == len(path), part || len(p) > len(path)
		}
	}
	return whole, part
}
