package lwtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// selector chooses among the objects of a collection, by labels and fields.
type selector []requirement

// requirement is one condition on the object's value of one key.
type requirement struct {
	value  func(*object) (string, bool)
	holds  func(value string) bool // nil: any value
	negate bool                    // no such value; without the key too
}

func (s selector) matches(o *object) bool {
	for _, r := range s {
		value, ok := r.value(o)
		hit := ok && (r.holds == nil || r.holds(value))
		if hit == r.negate {
			return false
		}
	}
	return true
}

// among holds of some values.
func among(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, value) }
}

// beyond holds of the whole numbers on one side of another: above it for a sign of 1, below it for -1.
func beyond(limit int64, sign int) func(string) bool {
	return func(value string) bool {
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && (sign > 0 && n > limit || sign < 0 && n < limit)
	}
}

// parseFields reads a fieldSelector. It knows the fields that every resource has: metadata.name and, if namespaced,
// metadata.namespace.
func parseFields(res *Resource, text string) (selector, error) {
	known := map[string]func(*object) (string, bool){
		"metadata.name": func(o *object) (string, bool) { return o.name, true },
	}
	list := `"metadata.name"`
	if res.Namespaced {
		known["metadata.namespace"] = func(o *object) (string, bool) { return o.namespace, true }
		list += `, "metadata.namespace"`
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
			continue // a real server takes it for nothing
		}
		value, ok := known[name]
		if !ok {
			return nil, badRequest("%s", fmt.Sprintf("%q is not a known field selector: only %s", name, list))
		}
		s = append(s, requirement{value: value, holds: among(want), negate: negate})
	}
	return s, nil
}

// fieldTerms cuts at the commas without a backslash. Empty terms count for nothing.
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

// unescapedField reads a value, in which a backslash stands before a comma, an equals sign or a backslash.
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
