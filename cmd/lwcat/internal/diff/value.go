package diff

import (
	"encoding/json"
	"slices"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func isObject(v lw.Value) bool { return v != "" && v[0] == '{' }
func isArray(v lw.Value) bool  { return v != "" && v[0] == '[' }

// members are those of an object, or an array's elements by name, in their order.
type members struct {
	names  []string
	values map[string]lw.Value
}

// membersOf returns an object's members; of several of one name the last, as readers of JSON do.
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

// namesOf returns elements by the member that names them, if each has one of its own.
func namesOf(elements []lw.Value, key string) (m members, ok bool) {
	m.values = map[string]lw.Value{}
	for _, element := range elements {
		value := element.Member(key)
		name := value.String()
		if _, twice := m.values[name]; twice || name == "" || value[0] != '"' {
			return m, false
		}
		m.names = append(m.names, name)
		m.values[name] = element
	}
	return m, true
}

func arrayOf(names []string) lw.Value {
	text, _ := json.Marshal(names) // strings have no way to fail
	return lw.Value(text)
}

// equal reports whether two values are the same, in whatever way they are written.
func equal(a, b lw.Value) bool {
	switch {
	case a == b:
		return true
	case a == "" || b == "" || a[0] != b[0]:
		return false
	case a[0] == '"':
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
