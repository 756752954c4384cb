package lwtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// selector chooses among the objects of a collection, by labels and fields.
type selector []requirement

// requirement is one condition on the object's value of one key.
type requirement struct {
	value  func(*object) (string, bool)
	among  []string
	negate bool // none of among; without the key too
	exists bool // only the key counts, not its value
}

func (s selector) matches(o *object) bool {
	for _, r := range s {
		value, ok := r.value(o)
		hit := ok && (r.exists || slices.Contains(r.among, value))
		if hit == r.negate {
			return false
		}
	}
	return true
}

var (
	labelKey   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)
	labelSet   = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\(([^()]*)\)$`)
	labelEqual = regexp.MustCompile(`^([^=!]*[^=!\s])\s*(=|==|!=)\s*([^=!]*)$`)
)

// parseLabels reads a labelSelector: terms a, !a, a=b, a==b, a!=b, a in (b,c)
// and a notin (b,c), all of which must hold.
func parseLabels(text string) (selector, error) {
	var s selector
	for _, term := range splitTerms(text) {
		key, r := term, requirement{exists: true}
		if m := labelSet.FindStringSubmatch(term); m != nil {
			key, r = m[1], requirement{negate: m[2] == "notin"}
			for value := range strings.SplitSeq(m[3], ",") {
				r.among = append(r.among, strings.TrimSpace(value))
			}
		} else if m := labelEqual.FindStringSubmatch(term); m != nil {
			key, r = m[1], requirement{negate: m[2] == "!=", among: []string{m[3]}}
		} else if rest, ok := strings.CutPrefix(term, "!"); ok {
			key, r.negate = strings.TrimSpace(rest), true
		}
		if !labelKey.MatchString(key) || slices.ContainsFunc(r.among, func(v string) bool { return !labelValue.MatchString(v) }) {
			return nil, badRequest("unable to parse requirement: %q", term)
		}
		r.value = func(o *object) (string, bool) { value, ok := o.labelled()[key]; return value, ok }
		s = append(s, r)
	}
	return s, nil
}

// splitTerms cuts at the commas outside parentheses.
func splitTerms(text string) []string {
	var terms []string
	depth, start := 0, 0
	for i, c := range text + "," {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && (depth == 0 || i == len(text)):
			terms = append(terms, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if len(terms) == 1 && terms[0] == "" {
		return nil
	}
	return terms
}

// parseFields reads a fieldSelector. It knows the fields that every resource
// has: metadata.name and, if namespaced, metadata.namespace.
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
	for _, term := range splitTerms(text) {
		m := labelEqual.FindStringSubmatch(term)
		if m == nil {
			return nil, badRequest("invalid selector: %q; can't understand %q", text, term)
		}
		value, ok := known[m[1]]
		if !ok {
			return nil, badRequest("%s", fmt.Sprintf("%q is not a known field selector: only %s", m[1], list))
		}
		s = append(s, requirement{value: value, among: []string{m[3]}, negate: m[2] == "!="})
	}
	return s, nil
}
