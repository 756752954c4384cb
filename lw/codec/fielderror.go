package codec

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// FieldError says which field of an object does not fit the struct. It holds names of members, and no values, so that it
// can be logged even for a Secret; what a custom UnmarshalJSON says is left out, as such errors quote.
type FieldError struct {
	Field    string // as [lw.Object.Get] takes it: "spec.containers[0].image"; "" for the object itself
	Expected string // the Go type of the field: "int32"
	Found    string // what kind of JSON value stood there: "a string"
}

func (e *FieldError) Error() string {
	field := "the object"
	if e.Field != "" {
		field = "field " + e.Field
	}
	return field + ": expected " + e.Expected + ", found " + e.Found
}

// locate finds the field for which a value of type t cannot be decoded from text, and only runs when it cannot.
//
// It decodes parts of the object: its members one by one, each alone in its place, and goes on with the first that fails.
// json-iterator's errors tell Go's names of fields rather than the API's, know nothing of array indexes, and quote the
// object in such a way that nothing of them can be cut out safely.
func locate(text string, t reflect.Type) error {
	if t.Kind() == reflect.Interface && t.NumMethod() > 0 {
		return errNew
	}
	l := locator{fails: func(text string) bool { return !decode(text, reflect.New(t).Interface()) }}
	l.descend("", lw.Value(text), "", t)
	return &l.found
}

type locator struct {
	fails func(text string) bool
	found FieldError
}

// descend is called with a value that fails when it stands alone between before and after, and with the Go type that it
// is for. The type is nil where it is not known.
func (l *locator) descend(before string, value lw.Value, after string, t reflect.Type) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	l.found.Expected, l.found.Found = "another value", kindOf(value)
	if t != nil {
		l.found.Expected = t.String()
	}
	if value[0] == '{' && !l.fails(before+"{}"+after) {
		l.members(before, value, after, t)
	}
	if value[0] == '[' && !l.fails(before+"[]"+after) {
		l.elements(before, value, after, t)
	}
}

func (l *locator) members(before string, value lw.Value, after string, t reflect.Type) {
	for name, member := range value.Members() {
		quoted, _ := json.Marshal(name) // a string has no error
		inner := before + "{" + string(quoted) + ":"
		if !l.fails(inner + string(member) + "}" + after) {
			continue
		}
		if step, safe := pathStep(name); safe {
			if l.found.Field != "" {
				l.found.Field += "."
			}
			l.found.Field += step
			l.descend(inner, member, "}"+after, memberType(t, name))
		}
		return
	}
}

func (l *locator) elements(before string, value lw.Value, after string, t reflect.Type) {
	var elem reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		elem = t.Elem()
	}
	i := 0
	for element := range value.Elements() {
		if l.fails(before + "[" + string(element) + "]" + after) {
			l.found.Field += "[" + strconv.Itoa(i) + "]"
			l.descend(before+"[", element, "]"+after, elem)
			return
		}
		i++
	}
}

// pathStep writes a member's name as a part of a path. Names that no API has, which are not printable or longer than a
// label's key can be, are not safe to show.
func pathStep(name string) (step string, safe bool) {
	const longest = 253 + 1 + 63
	if name == "" || len(name) > longest {
		return "", false
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return "", false
		}
	}
	return strings.NewReplacer(`\`, `\\`, `.`, `\.`, `[`, `\[`).Replace(name), true
}

// memberType is the type of the field that a member is read into, or of a map's elements.
func memberType(t reflect.Type, name string) reflect.Type {
	if t == nil {
		return nil
	}
	if t.Kind() == reflect.Map {
		return t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var found reflect.StructField
	for _, field := range reflect.VisibleFields(t) {
		tagged, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		matches := tagged == name || tagged == "" && field.Name == name
		if matches && (found.Type == nil || len(field.Index) < len(found.Index)) {
			found = field
		}
	}
	return found.Type
}

func kindOf(value lw.Value) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
