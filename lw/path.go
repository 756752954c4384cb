package lw

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw/internal/lean"
)

// pathError reports a malformed path.
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

type stepKind uint8

const (
	toMember stepKind = iota
	toElement
	toEveryElement
)

// cutStep splits the first step off a path. If the path is malformed, expected describes the syntax that would be valid
// at the start of rest.
func cutStep(path string) (first pathStep, rest, expected string) {
	if path != "" && path[0] == '[' {
		return cutElement(path)
	}
	if path != "" && path[0] == '.' {
		path = path[1:]
	}
	first.name, rest = cutName(path)
	switch {
	case rest == "\\":
		return first, rest, "a character after the backslash"
	case len(rest) == len(path):
		return first, rest, "a member name"
	}
	return first, rest, ""
}

// cutName splits a member name off a path. A backslash escapes the next character.
func cutName(path string) (name, rest string) {
	for i := range len(path) {
		switch path[i] {
		case '.', '[':
			return path[:i], path[i:]
		case '\\':
			return cutEscapedName(path)
		}
	}
	return path, ""
}

func cutEscapedName(path string) (name, rest string) {
	var text []byte
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '.' || c == '[':
			return string(text), path[i:]
		case c == '\\':
			i++
			if i == len(path) {
				return string(text), path[i-1:]
			}
		}
		text = append(text, path[i])
	}
	return string(text), ""
}

func cutElement(path string) (first pathStep, rest, expected string) {
	end := strings.IndexByte(path, ']')
	if end < 0 {
		return first, "", "]"
	}
	index := path[1:end]
	switch n, err := lean.ParseUint(index); {
	case index == "*":
		first.kind = toEveryElement
	case err != nil || n > math.MaxInt32:
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
