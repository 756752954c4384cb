package codec

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// fieldError reports a field that does not fit the struct, or a kind or apiVersion that does not belong to the built-in
// type. It contains field names and Kubernetes kinds but no other values, so it is safe to log even for a Secret. It
// omits errors of custom UnmarshalJSON methods, because they may quote values.
type fieldError struct {
	field    string // a path for [lw.Object.Get], or "" for the object itself
	expected string // the Go type of the field, for example "int32"
	found    string // the type of the JSON value, for example "a string"
}

func (e *fieldError) Error() string {
	field := "the object"
	if e.field != "" {
		field = "field " + e.field
	}
	return field + ": expected " + e.expected + ", found " + e.found
}

// locate returns a *fieldError for the first field that does not decode into type t. Call it only after decoding has
// failed. It decodes the members one by one, because errors from json-iterator use Go field names, omit array indexes and
// quote values.
func locate(text string, t reflect.Type) error {
	if t.Kind() == reflect.Interface && t.NumMethod() > 0 {
		return errNew
	}
	l := locator{fails: func(text string) bool { return !decode(text, reflect.New(t).Interface()) }}
	value, err := lw.ParseValue([]byte(text))
	if err != nil {
		return &fieldError{expected: "valid JSON", found: "other text"} // impossible: the text of an object is valid
	}
	l.descend("", value, "", t)
	return &l.found
}

type locator struct {
	fails func(text string) bool
	found fieldError
}

// descend searches value for the field that fails to decode, and records it in l.found. The JSON of the whole object is
// `before` + `value` + `after`. t is the type of value, or nil if it is unknown.
func (l *locator) descend(before string, value lw.Value, after string, t reflect.Type) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	l.found.expected, l.found.found = "a valid value", kindOf(value)+defect(value, t)
	if t != nil {
		l.found.expected = t.String()
	}
	if value.Raw()[0] == '{' && !l.fails(before+"{}"+after) {
		l.members(before, value, after, t)
	}
	if value.Raw()[0] == '[' && !l.fails(before+"[]"+after) {
		l.elements(before, value, after, t)
	}
}

func (l *locator) members(before string, value lw.Value, after string, t reflect.Type) {
	for name, member := range value.Members() {
		quoted, _ := json.Marshal(name) // encoding a string cannot fail
		inner := before + "{" + string(quoted) + ":"
		if !l.fails(inner + member.Raw() + "}" + after) {
			continue
		}
		switch step, safe := pathStep(name); {
		case t != nil && t.Kind() == reflect.Map && t.Key().Kind() != reflect.String && l.fails(inner+"null}"+after):
			l.found.found += " with an invalid key" // null is a valid value
		case safe:
			if l.found.field != "" {
				l.found.field += "."
			}
			l.found.field += step
			l.descend(inner, member, "}"+after, memberType(t, name))
		default:
			l.found.found += " that contains " + kindOf(member)
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
		if l.fails(before + "[" + element.Raw() + "]" + after) {
			l.found.field += "[" + strconv.Itoa(i) + "]"
			l.descend(before+"[", element, "]"+after, elem)
			return
		}
		i++
	}
}

// pathStep escapes a member name for use in a field path. safe is false if the name must not be logged, because it is
// unprintable or longer than any label key.
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

// memberType returns the type of the struct field or map element for a member, or nil if the type has no such member.
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
	switch value.Raw()[0] {
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

// defect describes why a number or a string does not decode into a type that accepts other numbers or strings. It
// returns "" for other values. t is nil if the type is unknown.
func defect(value lw.Value, t reflect.Type) string {
	if t == nil || t.Kind() == reflect.Interface {
		t = reflect.TypeFor[float64]() // the type of numbers in an interface
	}
	switch isNumber := t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64; {
	case isNumber && kindOf(value) == "a number" && json.Unmarshal([]byte(value.Raw()), reflect.New(t).Interface()) != nil:
		return " that does not fit"
	case t == reflect.TypeFor[[]byte]() && kindOf(value) == "a string":
		return " that is not base64"
	}
	return ""
}
