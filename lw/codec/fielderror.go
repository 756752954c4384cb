package codec

import (
	"reflect"
	"strconv"
	"strings"
)

// fieldError reports a field that does not fit the struct, or a kind or apiVersion that does not belong to the built-in
// type. It contains field names and Kubernetes kinds but no other values, so it is safe to log even for a Secret. It
// omits the errors of custom UnmarshalJSON methods, because these errors may quote values.
type fieldError struct {
	field    string // a path for [lw.Object.Get], or "" for the object itself
	expected string // usually the Go type of the field, for example "int32"; for the object itself, its apiVersion and kind
	found    string // usually the type of the JSON value, for example "a string"
}

func (e *fieldError) Error() string {
	field := "the object"
	if e.field != "" {
		field = "field " + e.field
	}
	return field + ": expected " + e.expected + ", found " + e.found
}

// inMember adds a member name to the path of the field. value starts with the JSON of the member, and object is the
// type of the JSON object that contains the member. If the name must not be logged, the error describes that object
// instead of the member.
func (e *fieldError) inMember(name string, object reflect.Type, value string) {
	if step, safe := pathStep(name); safe {
		e.field = "." + step + e.field
	} else {
		*e = fieldError{expected: object.String(), found: "an object that contains " + kindOf(value)}
	}
}

// inElement adds the index of an array element to the path of the field.
func (e *fieldError) inElement(i int) { e.field = "[" + strconv.Itoa(i) + "]" + e.field }

// pathStep escapes a member name for use in a field path. `safe` is false if the name must not be logged, because it is
// unprintable or longer than any label key.
func pathStep(name string) (step string, safe bool) {
	const longest = 253 + 1 + 63 // prefix, slash and name of a label key
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

// kindOf describes the JSON value at the start of text.
func kindOf(text string) string {
	switch text[0] {
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
