package lw

import (
	"iter"
	"math"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
	"github.com/seed-6d2a410a/listwatch/lw/internal/lean"
)

// Value is one JSON value, as text that was validated before: a part of an [Object], or what [ParseValue] returned.
// The zero Value stands for "not there". Reading from it allocates nothing, save to resolve escape sequences.
type Value string

// ParseValue checks that text is one JSON value (RFC 8259) and returns it. It accepts invalid UTF-8 and lone surrogates, as
// encoding/json does; they read as U+FFFD. The error is a *[MalformedError] or a *[FrameTooLargeError].
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

// Exists reports whether the value is there; null is.
func (v Value) Exists() bool { return v != "" }

// String returns a string's content, and any other value's JSON text; "" for null and for a value that is not there.
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

// Int returns an integer. It returns zero for other values and for integers out of range.
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

// Bool returns true for the literal true only.
func (v Value) Bool() bool { return v == "true" }

// Members iterates over an object's members, in the order of the text, names unescaped. Nothing for other values.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v == "" || v[0] != '{' {
			return
		}
		i := skipSpace(v, 1)
		for i < len(v) && v[i] == '"' {
			end := valueEnd(v, i)
			name := v[i:end].String()
			i = skipSpace(v, skipSpace(v, end)+1) // over the colon
			end = valueEnd(v, i)
			if !yield(name, v[i:end]) {
				return
			}
			i = skipSpace(v, skipSpace(v, end)+1) // over the comma, or the closing bracket
		}
	}
}

// Elements iterates over an array's elements. Nothing for other values.
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

// Get returns the value at a path: member names joined by dots, with a backslash before a dot that belongs to a name, and
// [n] for an array's element, as in "metadata.labels.app\.kubernetes\.io/name" or "spec.containers[0].image". With [*] it is
// the first element that has the rest of the path; [Value.Elements] gives them all. A path that is malformed leads nowhere.
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

// first returns what the path leads to in the first element that has it.
func (v Value) first(path string) Value {
	for element := range v.Elements() {
		if found := element.Get(path); found != "" {
			return found
		}
	}
	return ""
}

// Member returns the object's member of this very name, without reading it as a path; of several, the last.
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

// valueEnd returns the position behind the value that begins at i.
func valueEnd(v Value, i int) int { return jsonscan.ValueEnd(string(v), i) }

// skipSpace returns the first position from i on that holds no white space.
func skipSpace(v Value, i int) int { return jsonscan.SkipSpace(string(v), i) }
