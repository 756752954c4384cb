package diff

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

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

func elementsOf(v lw.Value) (elements []lw.Value) {
	for element := range v.Elements() {
		elements = append(elements, element)
	}
	return elements
}

// namesOf returns the elements of an array by name. key is the member that contains the name, for example "type". ok is
// false if a name is missing or not unique.
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
	switch {
	case a == b:
		return true
	case !a.Exists() || !b.Exists() || a.Raw()[0] != b.Raw()[0]:
		return false
	case a.Raw()[0] == '"':
		return a.String() == b.String()
	case isArray(a):
		return slices.EqualFunc(elementsOf(a), elementsOf(b), equal)
	case isObject(a):
		before, after := membersOf(a), membersOf(b)
		for name, value := range before.values {
			if !equal(value, after.values[name]) {
				return false
			}
		}
		return len(before.values) == len(after.values)
	}
	return false
}
