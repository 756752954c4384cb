package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Step leads to a member of an object or to an element of an array.
type Step struct {
	Name    string // the member's, or what the element is called: its name or type
	Index   int    // the element's, in the array where it is: in the new one, if it is in both
	Element bool
}

// Path leads to a value.
type Path []Step

// String returns the path in the form of [Ignoring], as status.conditions[Ready].message.
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

// pointer returns the path as a JSON Pointer (RFC 6901).
func (p Path) pointer() string {
	var text strings.Builder
	for _, step := range p {
		text.WriteByte('/')
		if step.Element {
			text.WriteString(strconv.Itoa(step.Index))
		} else {
			text.WriteString(pointerEscaper.Replace(step.Name))
		}
	}
	return text.String()
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// to returns the path with one step more; p keeps its own.
func (p Path) to(step Step) Path { return append(p[:len(p):len(p)], step) }

// pattern is a path of which [*] is any element.
type pattern []Step

// parsePattern reads metadata.annotations.example\.com/x, status.conditions[*].message, or spec.containers[web].image.
func parsePattern(text string) (p pattern, err error) {
	for rest := strings.TrimPrefix(text, "."); rest != ""; {
		var name strings.Builder
		element := rest[0] == '['
		if element {
			inner, after, found := strings.Cut(rest[1:], "]")
			if !found {
				return nil, fmt.Errorf("path %q lacks a closing bracket", text)
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
			if rest = rest[1:]; rest == "" {
				return nil, fmt.Errorf("path %q ends with a dot", text)
			}
		}
	}
	if p == nil {
		return nil, fmt.Errorf("path %q leads nowhere", text)
	}
	return p, nil
}

// cutName takes a name off a path; a backslash makes the next character a part of it.
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

// isPrefixOf reports whether the pattern's first steps are this path.
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

// Filter says what of an object is looked at. The zero Filter looks at all of it.
type Filter struct {
	ignored []pattern
	only    string
}

// Ignoring returns a filter that looks at nothing at these paths and beneath them. "managedFields" alone stands for
// metadata.managedFields. If only is not "", nothing but that member of the object is looked at.
func Ignoring(paths []string, only string) (Filter, error) {
	f := Filter{only: only}
	for _, path := range paths {
		if path == "managedFields" {
			path = "metadata.managedFields"
		}
		p, err := parsePattern(path)
		if err != nil {
			return f, err
		}
		f.ignored = append(f.ignored, p)
	}
	return f, nil
}

// skips reports whether a path is not looked at.
func (f *Filter) skips(path Path) bool {
	if len(path) == 1 && f.only != "" && path[0].Name != f.only {
		return true
	}
	for _, p := range f.ignored {
		if len(p) == len(path) && p.isPrefixOf(path) {
			return true
		}
	}
	return false
}

// skipsWithin reports whether something beneath a path may not be looked at.
func (f *Filter) skipsWithin(path Path) bool {
	for _, p := range f.ignored {
		if len(p) > len(path) && p.isPrefixOf(path) {
			return true
		}
	}
	return false
}
