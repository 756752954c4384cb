// Package jsonpath implements kubectl's JSONPath templates on JSON text:
//
//	{.metadata.name}{"\t"}{range .spec.containers[*]}{.image} {end}
//
// It supports $ and @, .name, ['name'], [0], [-1], [1:3], [0,2], ['a','b'], [*], .*, ..name and filters such as
// [?(@.type=="Ready")]. As with kubectl get, a path without a match prints nothing.
package jsonpath

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Template is a parsed template.
type Template []node

// node is a part of a template: text, a path whose values are printed, or a range over a path's values.
type node struct {
	text  string
	path  *Path
	body  []node // the nodes of a range
	loops bool
}

// Append appends the template's output for an object. text converts a value to output, for example lw.Value.String.
// If a path selects several values, Append separates them with spaces.
func (t Template) Append(out []byte, object lw.Value, text func(lw.Value) string) []byte {
	return appendNodes(out, t, scope{root: object, current: object}, text)
}

func appendNodes(out []byte, nodes []node, in scope, text func(lw.Value) string) []byte {
	for _, n := range nodes {
		if n.path == nil {
			out = append(out, n.text...)
			continue
		}
		first := true
		for value := range n.path.find(in) {
			if n.loops {
				out = appendNodes(out, n.body, scope{root: in.root, current: value}, text)
				continue
			}
			if !first {
				out = append(out, ' ')
			}
			first = false
			out = append(out, text(value)...)
		}
	}
	return out
}

// scope contains the values at which a path can start.
type scope struct {
	root    lw.Value // value that $ selects
	current lw.Value // value that @ selects; also the default start of a path
}

// Path is a parsed path.
type Path struct {
	fromRoot bool
	steps    []step
}

// Find iterates over the values that the path selects.
func (p *Path) Find(object lw.Value) iter.Seq[lw.Value] {
	return p.find(scope{root: object, current: object})
}

func (p *Path) find(in scope) iter.Seq[lw.Value] {
	return func(yield func(lw.Value) bool) {
		from := in.current
		if p.fromRoot {
			from = in.root
		}
		walk(p.steps, from, in.root, yield)
	}
}

// step calls yield for each selected value until yield returns false. In that case, the step also returns false.
type step func(from, root lw.Value, yield func(lw.Value) bool) bool

func walk(steps []step, from, root lw.Value, yield func(lw.Value) bool) bool {
	if len(steps) == 0 {
		return yield(from)
	}
	return steps[0](from, root, func(to lw.Value) bool { return walk(steps[1:], to, root, yield) })
}

// toMembers returns a step that selects the members with the given names.
func toMembers(names []string) step {
	return func(from, _ lw.Value, yield func(lw.Value) bool) bool {
		for _, name := range names {
			if member := from.Member(name); member.Exists() && !yield(member) {
				return false
			}
		}
		return true
	}
}

// toAll selects all elements and members.
func toAll(from, _ lw.Value, yield func(lw.Value) bool) bool {
	for element := range from.Elements() {
		if !yield(element) {
			return false
		}
	}
	for _, member := range from.Members() {
		if !yield(member) {
			return false
		}
	}
	return true
}

// toDescendants selects the value itself and all nested values.
func toDescendants(from, root lw.Value, yield func(lw.Value) bool) bool {
	return yield(from) && toAll(from, root, func(to lw.Value) bool { return toDescendants(to, root, yield) })
}

// slice selects a part of an array. Negative bounds count from the end.
type slice struct{ start, end *int }

func toSlices(parts []slice) step {
	return func(from, _ lw.Value, yield func(lw.Value) bool) bool {
		all := slices.Collect(from.Elements())
		for _, s := range parts {
			for i := s.bound(s.start, 0, len(all)); i < s.bound(s.end, len(all), len(all)); i++ {
				if !yield(all[i]) {
					return false
				}
			}
		}
		return true
	}
}

// bound converts n to an index from 0 to length. If n is nil, it returns fallback.
func (s slice) bound(n *int, fallback, length int) int {
	if n == nil {
		return fallback
	}
	if *n < 0 {
		return max(*n+length, 0)
	}
	return min(*n, length)
}

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
	if !comparable {
		return f.operator == "!="
	}
	return slices.Contains(trueFor[order], f.operator)
}

// trueFor lists the operators that hold if the left value is less than (-1), equal to (0) or greater than (1) the
// right one.
var trueFor = map[int][]string{-1: {"<", "<=", "!="}, 0: {"==", "<=", ">="}, 1: {">", ">=", "!="}}

// compare returns the order of two values. comparable is false if their types differ.
func compare(a, b lw.Value) (order int, comparable bool) {
	if isString(a) || isString(b) {
		return strings.Compare(a.String(), b.String()), isString(a) == isString(b)
	}
	if isNumber(a) != isNumber(b) {
		return 0, false
	}
	if order, ok := CompareNumbers(a.Raw(), b.Raw()); ok {
		return order, true
	}
	return strings.Compare(a.Raw(), b.Raw()), true
}

func isString(v lw.Value) bool { return v.Raw()[0] == '"' }
func isNumber(v lw.Value) bool { return v.Raw()[0] == '-' || v.Raw()[0]-'0' < 10 }

// CompareNumbers returns the order of two numbers. It compares 64-bit integers exactly and other numbers as floats. ok
// is false if one of them is not a number.
func CompareNumbers(a, b string) (order int, ok bool) {
	i, err := strconv.ParseInt(a, 10, 64)
	j, err2 := strconv.ParseInt(b, 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j), true
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return cmp.Compare(x, y), err == nil && err2 == nil
}
