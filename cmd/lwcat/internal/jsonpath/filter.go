package jsonpath

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// filter is an expression in [?(…)]: a comparison, or a path that must exist.
type filter struct {
	left, right operand
	operator    string // "" if the filter is not a comparison
}

// operand is a path or a literal.
type operand struct {
	path    *Path
	literal lw.Value
}

func (o *operand) value(in scope) lw.Value {
	if o.path == nil {
		return o.literal
	}
	for value := range o.path.find(in) {
		return value
	}
	return lw.Value{}
}

// toMatching is a step that selects the elements that match the filter.
func (f *filter) toMatching(from, root lw.Value, yield func(lw.Value) bool) bool {
	return toAll(from, root, func(element lw.Value) bool {
		return !f.holds(scope{root: root, current: element}) || yield(element)
	})
}

// holds reports whether an element matches. As in kubectl, comparisons with a missing value never match.
func (f *filter) holds(in scope) bool {
	left := f.left.value(in)
	if f.operator == "" {
		return left.Exists()
	}
	right := f.right.value(in)
	if !left.Exists() || !right.Exists() {
		return false
	}
	order, comparable := compare(left, right)
	switch f.operator {
	case "==":
		return comparable && order == 0
	case "!=":
		return !comparable || order != 0
	case "<":
		return comparable && order < 0
	case "<=":
		return comparable && order <= 0
	case ">":
		return comparable && order > 0
	}
	return comparable && order >= 0
}

// compare returns the order of two values. comparable is false if their types differ.
func compare(a, b lw.Value) (order int, comparable bool) {
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a.Raw(), b.Raw()), true
	}
	if isNumber(a) || isNumber(b) || isString(a) != isString(b) {
		return 0, false
	}
	return strings.Compare(a.String(), b.String()), true
}

func isString(v lw.Value) bool { return v.Raw()[0] == '"' }
func isNumber(v lw.Value) bool { return v.Raw()[0] == '-' || v.Raw()[0]-'0' < 10 }

// compareNumbers compares integers exactly and other numbers as floats.
func compareNumbers(a, b string) int {
	x, ok := new(big.Int).SetString(a, 10)
	y, too := new(big.Int).SetString(b, 10)
	if ok && too {
		return x.Cmp(y)
	}
	f, _ := strconv.ParseFloat(a, 64) // large numbers become ±Inf
	g, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(f, g)
}
