package diff

import (
	"fmt"
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

// parsePattern parses a path such as metadata.annotations.example\.com/x, status.conditions[*].message or
// spec.containers[web].image.
func parsePattern(text string) (p pattern, err error) {
	for rest := strings.TrimPrefix(text, "."); rest != ""; {
		var name strings.Builder
		element := rest[0] == '['
		if element {
			inner, after, found := strings.Cut(rest[1:], "]")
			if !found {
				return nil, fmt.Errorf("path %q has no closing bracket", text)
			}
			name.WriteString(inner)
			rest = after
		} else {
			rest = cutName(&name, rest)
		}
		if name.Len() == 0 {
			return nil, fmt.Errorf("path %q has a step without a name", text)
		}
		p = append(p, Step{Name: name.String(), Element: element})
		if rest != "" && rest[0] == '.' {
			rest = rest[1:]
			if rest == "" {
				return nil, fmt.Errorf("path %q ends with a dot", text)
			}
		}
	}
	if p == nil {
		return nil, fmt.Errorf("path %q is empty", text)
	}
	return p, nil
}

// cutName writes the name at the start of a path to name and returns the rest. A backslash escapes the next character.
func cutName(name *strings.Builder, rest string) string {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '.', '[':
			return rest[i:]
		case '\\':
			i++
		}
		if i < len(rest) {
			name.WriteByte(rest[i])
		}
	}
	return ""
}

// isPrefixOf reports whether the pattern starts with steps that match the whole path.
func (p pattern) isPrefixOf(path Path) bool {
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
		if len(p) == len(path) && p.isPrefixOf(path) {
			return true
		}
	}
	return false
}

// skipsWithin reports whether the filter may ignore a descendant of a path.
func (f *Filter) skipsWithin(path Path) bool {
	for _, p := range f.ignored {
		if len(p) > len(path) && p.isPrefixOf(path) {
			return true
		}
	}
	return false
}
