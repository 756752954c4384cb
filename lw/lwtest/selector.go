package lwtest

import (
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/labels"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// selector holds conditions on an object's labels and fields. An object must meet all of them.
type selector []func(*object) bool

func (s selector) matches(o *object) bool {
	for _, holds := range s {
		if !holds(o) {
			return false
		}
	}
	return true
}

func parseLabels(text string) (selector, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	if len(parsed) == 0 {
		return nil, nil
	}
	return selector{func(o *object) bool {
		return parsed.Matches(func(key string) (string, bool) { value, ok := o.labels[key]; return value, ok })
	}}, nil
}

// selectable lists additional fields for field selectors, keyed by the id of the resource.
var selectable = map[string][]string{
	"events": {"involvedObject.kind", "involvedObject.name", "type"},
	"pods":   {"spec.nodeName", "status.phase"},
}

// parseFields parses a fieldSelector. It supports metadata.name, metadata.namespace for namespaced resources, and the
// fields in selectable.
func parseFields(res *Resource, text string) (selector, error) {
	known := map[string]func(*object) string{
		"metadata.name": func(o *object) string { return o.name },
	}
	list := `"metadata.name"`
	if res.Namespaced {
		known["metadata.namespace"] = func(o *object) string { return o.namespace }
		list += `, "metadata.namespace"`
	}
	for _, path := range selectable[res.id()] {
		known[path] = func(o *object) string { return o.text(path) }
		list += fmt.Sprintf(", %q", path)
	}
	var s selector
	for _, term := range fieldTerms(text) {
		at := strings.IndexByte(term, '=')
		if at < 0 {
			return nil, badRequest("invalid selector: %q; can't understand %q", text, term)
		}
		name, negate := strings.CutSuffix(term[:at], "!")
		rest := term[at+1:]
		if !negate {
			rest = strings.TrimPrefix(rest, "=")
		}
		want, ok := unescapedField(rest)
		if !ok {
			return nil, badRequest("invalid field selector: %q", term)
		}
		if name == "" && want == "" {
			continue // kube-apiserver ignores a term without a name and a value
		}
		value, ok := known[name]
		if !ok {
			return nil, badRequest("%s", fmt.Sprintf("%q is not a known field selector: only %s", name, list))
		}
		s = append(s, func(o *object) bool { return (value(o) == want) != negate })
	}
	return s, nil
}

// text returns the field at path, for example involvedObject.kind, as a string.
func (o *object) text(path string) string {
	parsed, err := lw.ParseObject(o.item)
	if err != nil {
		panic(err) // cannot happen, because the server encoded the object
	}
	return parsed.Get(path).String()
}

// fieldTerms splits a selector at each comma without a backslash and returns the terms. It omits empty terms.
func fieldTerms(text string) (terms []string) {
	start, escaped := 0, false
	for i, c := range text + "," {
		if c == ',' && (!escaped || i == len(text)) {
			if i > start {
				terms = append(terms, text[start:i])
			}
			start = i + 1
		}
		escaped = c == '\\' && !escaped
	}
	return terms
}

// unescapedField returns text without the backslashes before commas, equals signs and backslashes. ok is false if one
// of these characters is unescaped.
func unescapedField(text string) (value string, ok bool) {
	var out []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ',' || c == '=':
			return "", false
		case c == '\\':
			if i++; i == len(text) || !strings.ContainsRune(`\,=`, rune(text[i])) {
				return "", false
			}
		}
		out = append(out, text[i])
	}
	return string(out), true
}
