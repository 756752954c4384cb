package lw

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// Value is a validated JSON value, for example a part of an [Object]. The zero Value represents a missing value. Its
// methods allocate memory only for strings with escape sequences or non-ASCII characters, or if Int fails to parse the
// value.
type Value struct{ raw string }

// ParseValue parses a JSON value (RFC 8259). It accepts invalid UTF-8 and lone surrogates, which decode as U+FFFD as in
// encoding/json. The error matches [ErrInvalidResponse], or io.ErrUnexpectedEOF if the text is truncated.
func ParseValue(text []byte) (Value, error) {
	s := textScanner(text)
	s.Mark()
	s.SkipValue()
	value := Value{view(s.Frame())}
	if !s.End("the end of the text") {
		return Value{}, s.Err()
	}
	return value, nil
}

// Exists reports whether the value exists. It returns true for null.
func (v Value) Exists() bool { return v.raw != "" }

// Raw returns the JSON text without surrounding white space, or "" for a missing value.
func (v Value) Raw() string { return v.raw }

// String returns the content of a string, or the JSON text of any other value. It returns "" for null and for a missing
// value.
func (v Value) String() string {
	switch {
	case v.raw == "" || v.raw == "null":
		return ""
	case v.raw[0] != '"':
		return v.raw
	}
	inner := v.raw[1 : len(v.raw)-1]
	for i := range len(inner) {
		if inner[i] == '\\' || inner[i] >= utf8.RuneSelf { // non-ASCII text may be invalid UTF-8, which Unescape replaces
			return string(jsonscan.Unescape(nil, []byte(inner)))
		}
	}
	return inner
}

// Int returns the value as an integer. It returns zero if the value is not an integer or does not fit into an int64.
func (v Value) Int() int64 {
	n, err := strconv.ParseInt(v.raw, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Bool reports whether the value is true.
func (v Value) Bool() bool { return v.raw == "true" }

// Members returns an iterator over the names and values of a JSON object, in the order of the text. It yields nothing
// if v is not an object.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		text := v.raw
		if text == "" || text[0] != '{' {
			return
		}
		i := jsonscan.SkipSpace(text, 1)
		for i < len(text) && text[i] == '"' {
			end := jsonscan.ValueEnd(text, i)
			name := Value{text[i:end]}.String()
			i = afterSeparator(text, end) // skip the colon
			end = jsonscan.ValueEnd(text, i)
			if !yield(name, Value{text[i:end]}) {
				return
			}
			i = afterSeparator(text, end) // skip the comma or the closing brace
		}
	}
}

// Elements returns an iterator over the elements of a JSON array. It yields nothing if v is not an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		text := v.raw
		if text == "" || text[0] != '[' {
			return
		}
		i := jsonscan.SkipSpace(text, 1)
		for i < len(text) && text[i] != ']' {
			end := jsonscan.ValueEnd(text, i)
			if !yield(Value{text[i:end]}) {
				return
			}
			i = afterSeparator(text, end)
		}
	}
}

// Get returns the value at a path such as "spec.containers[0].image". It returns the zero Value if the path is
// malformed or has no value. The empty path returns v itself.
//
// A path consists of member names, separated by dots, and array indexes in brackets. It may begin with a dot. A
// backslash escapes a dot, a bracket or a backslash in a name, as in "metadata.labels.app\.kubernetes\.io/name". The
// index [*] selects the first element that has a value at the rest of the path. [Value.Elements] yields all elements.
func (v Value) Get(path string) Value {
	for path != "" && v.Exists() {
		first, rest, expected := cutStep(path)
		if expected != "" {
			return Value{}
		}
		switch first.kind {
		case toMember:
			v = v.Member(first.name)
		case toElement:
			v = v.element(first.index)
		case toEveryElement:
			return v.first(rest)
		}
		path = rest
	}
	return v
}

// first returns the value at path in the first array element that contains such a value.
func (v Value) first(path string) Value {
	for element := range v.Elements() {
		if found := element.Get(path); found.Exists() {
			return found
		}
	}
	return Value{}
}

// Member returns the value of the object member with exactly this name. Dots and brackets have no special meaning. If
// the name occurs several times, Member returns the last value.
func (v Value) Member(name string) (found Value) {
	for n, member := range v.Members() {
		if n == name {
			found = member
		}
	}
	return found
}

func (v Value) element(index uint64) Value {
	for element := range v.Elements() {
		if index == 0 {
			return element
		}
		index--
	}
	return Value{}
}

// afterSeparator skips a colon, a comma or a closing bracket, and the white space around it. It returns the index of
// the next byte. i is the index after the preceding value.
func afterSeparator(text string, i int) int {
	return jsonscan.SkipSpace(text, jsonscan.SkipSpace(text, i)+1)
}

// pathError reports a path that Project or Omit does not accept.
type pathError struct {
	Path     string
	Offset   int    // byte offset of the error in the path
	Expected string // the expected syntax at Offset
}

func (e *pathError) Error() string {
	return "lw: path \"" + e.Path + "\": expected " + e.Expected + " at byte " + strconv.Itoa(e.Offset)
}

// pathStep is one element of a path, for example a member name.
type pathStep struct {
	kind  stepKind
	name  string
	index uint64
}

// stepKind is the kind of a path's step: a member, an element with an index, or [*].
type stepKind uint8

const (
	toMember stepKind = iota
	toElement
	toEveryElement
)

// cutStep splits the first step off a path. If the path is malformed, `expected` describes the syntax that would be
// valid at the start of rest.
func cutStep(path string) (first pathStep, rest, expected string) {
	if strings.HasPrefix(path, "[") {
		return cutElement(path)
	}
	path = strings.TrimPrefix(path, ".")
	end, escaped := 0, false
	for end < len(path) && path[end] != '.' && path[end] != '[' {
		if path[end] == '\\' {
			escaped = true
			end++
		}
		end++
	}
	switch {
	case end > len(path):
		return first, path[len(path)-1:], "a character after the backslash"
	case end == 0:
		return first, path, "a member name"
	}
	first.name = path[:end]
	if escaped {
		first.name = unescapeName.Replace(first.name)
	}
	return first, path[end:], ""
}

// unescapeName removes each backslash that escapes the next character.
var unescapeName = strings.NewReplacer(`\\`, `\`, `\`, ``)

// cutElement is like cutStep, but for a path that starts with a bracket.
func cutElement(path string) (first pathStep, rest, expected string) {
	end := strings.IndexByte(path, ']')
	if end < 0 {
		return first, "", "]"
	}
	index := path[1:end]
	switch n, err := strconv.ParseUint(index, 10, 31); {
	case index == "*":
		first.kind = toEveryElement
	case err != nil:
		return first, path[1:], "an index or * in brackets"
	default:
		first.kind, first.index = toElement, n
	}
	rest = path[end+1:]
	if rest != "" && rest[0] != '.' && rest[0] != '[' {
		return first, rest, "a dot or ["
	}
	return first, rest, ""
}
