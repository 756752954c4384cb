package lw

import (
	"iter"
	"math"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
	"github.com/seed-6d2a410a/listwatch/lw/internal/lean"
)

// Value is a validated JSON value, for example a part of an [Object]. The zero Value represents a missing value. Its
// methods allocate memory only to decode escape sequences.
type Value string

// ParseValue parses a JSON value (RFC 8259). It accepts invalid UTF-8 and lone surrogates, which decode as U+FFFD as in
// encoding/json. The error is a *[MalformedError] or a *[FrameTooLargeError].
func ParseValue(text []byte) (Value, error) {
	s := textScanner(text)
	s.Mark()
	s.SkipValue()
	value := Value(view(s.Frame()))
	if !s.End("the end of the text") {
		return "", s.failure()
	}
	return value, nil
}

// Exists reports whether the value exists. It returns true for null.
func (v Value) Exists() bool { return v != "" }

// String returns the content of a string, or the JSON text of any other value. It returns "" for null and for a missing
// value.
func (v Value) String() string {
	switch {
	case v == "" || v == "null":
		return ""
	case v[0] != '"':
		return string(v)
	}
	inner := v[1 : len(v)-1]
	for i := range len(inner) {
		if inner[i] == '\\' || inner[i] >= utf8.RuneSelf {
			return string(jsonscan.Unescape(nil, []byte(inner)))
		}
	}
	return string(inner)
}

// Int returns an integer, or zero if the value is not an integer or is out of range.
func (v Value) Int() int64 {
	if v != "" && v[0] == '-' {
		if n, err := lean.ParseUint(string(v[1:])); err == nil && n <= -math.MinInt64 {
			return -int64(n)
		}
		return 0
	}
	if n, err := lean.ParseUint(string(v)); err == nil && n <= math.MaxInt64 {
		return int64(n)
	}
	return 0
}

// Bool reports whether the value is true.
func (v Value) Bool() bool { return v == "true" }

// Members returns an iterator over the names and values of a JSON object, in the order of the text. It yields nothing
// if v is not an object.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v == "" || v[0] != '{' {
			return
		}
		i := skipSpace(v, 1)
		for i < len(v) && v[i] == '"' {
			end := valueEnd(v, i)
			name := v[i:end].String()
			i = skipSpace(v, skipSpace(v, end)+1) // skip the colon
			end = valueEnd(v, i)
			if !yield(name, v[i:end]) {
				return
			}
			i = skipSpace(v, skipSpace(v, end)+1) // skip the comma or the closing brace
		}
	}
}

// Elements returns an iterator over the elements of a JSON array. It yields nothing if v is not an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v == "" || v[0] != '[' {
			return
		}
		i := skipSpace(v, 1)
		for i < len(v) && v[i] != ']' {
			end := valueEnd(v, i)
			if !yield(v[i:end]) {
				return
			}
			i = skipSpace(v, skipSpace(v, end)+1)
		}
	}
}

// Get returns the value at a path such as "spec.containers[0].image". It returns the zero Value if nothing is at the
// path or if the path is malformed.
//
// A path consists of member names, separated by dots, and array indexes in brackets. A backslash escapes a dot in a
// name, as in "metadata.labels.app\.kubernetes\.io/name". The index [*] selects the first element that has the rest of
// the path. [Value.Elements] yields all elements.
func (v Value) Get(path string) Value {
	for path != "" && v != "" {
		first, rest, expected := cutStep(path)
		if expected != "" {
			return ""
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
		if found := element.Get(path); found != "" {
			return found
		}
	}
	return ""
}

// Member returns the member of an object with this exact name. Dots and brackets have no special meaning. If several
// members have the name, Member returns the last of them.
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
	return ""
}

// valueEnd returns the index of the first byte after the JSON value that starts at index i.
func valueEnd(v Value, i int) int { return jsonscan.ValueEnd(string(v), i) }

// skipSpace returns the index of the first byte that is not white space, starting at index i.
func skipSpace(v Value, i int) int { return jsonscan.SkipSpace(string(v), i) }
