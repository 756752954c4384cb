package diff

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Step selects a member of an object or an element of an array.
type Step struct {
	Name    string // name of the member, or the name or type of the element
	Index   int    // index in the new array, or in the old array for removed elements
	Element bool
}

// Path is the location of a value.
type Path []Step

// String returns the path in the syntax of [Ignoring], for example status.conditions[Ready].message.
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

// startsWith reports whether the first steps of the pattern match the steps of path.
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

// Filter selects the compared parts of an object. The zero Filter selects the whole object.
type Filter struct{ ignored []pattern }

// Ignoring returns a filter that ignores these paths and their descendants.
func Ignoring(paths []string) (f Filter, err error) {
	for _, path := range paths {
		p, err := parsePattern(path)
		if err != nil {
			return f, err
		}
		f.ignored = append(f.ignored, p)
	}
	return f, nil
}

// skips reports whether the filter ignores a path.
func (f *Filter) skips(path Path) bool {
	for _, p := range f.ignored {
		if len(p) == len(path) && p.startsWith(path) {
			return true
		}
	}
	return false
}

// skipsWithin reports whether the filter may ignore a descendant of a path.
func (f *Filter) skipsWithin(path Path) bool {
	for _, p := range f.ignored {
		if len(p) > len(path) && p.startsWith(path) {
			return true
		}
	}
	return false
}
