// Package labels implements Kubernetes label selectors, for the server of package lwtest and for snapshots of catalogs.
package labels

import (
	"slices"
	"strconv"
)

// Selector is a parsed label selector. The zero value selects all objects.
type Selector []requirement

// requirement is a condition on a label.
type requirement struct {
	key string
	// operator is "", "=", "==", "!=", "in", "notin", "<" or ">". "" requires only that the label exists. All others except
	// "<" and ">" compare with values.
	operator string
	negate   bool // inverts the condition
	values   []string
	limit    int64 // operand of "<" and ">"
}

// Matches reports whether a set of labels meets all requirements. The function `get` looks up a label in this set.
func (s Selector) Matches(get func(key string) (value string, ok bool)) bool {
	for i := range s {
		value, ok := get(s[i].key)
		if (ok && s[i].holds(value)) == s[i].negate {
			return false
		}
	}
	return true
}

// holds reports whether a label value meets the condition. It ignores negate, which the caller applies to the result.
func (r *requirement) holds(value string) bool {
	switch r.operator {
	case "":
		return true
	case "<", ">":
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && (r.operator == ">" && n > r.limit || r.operator == "<" && n < r.limit)
	}
	return slices.Contains(r.values, value)
}
