// Package jsonpath is JSONPath as kubectl knows it, over JSON text: templates such as
//
//	{.metadata.name}{"\t"}{range .spec.containers[*]}{.image} {end}
//
// with $ and @, .name, ['name'], [0], [-1], [1:3], [::2], [0,2], ['a','b'], [*], .*, ..name and filters such as
// [?(@.type=="Ready")]. What a path does not find prints nothing, as with kubectl get.
package jsonpath

import (
	"iter"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Template is text with paths in it.
type Template struct{ nodes []node }

// node is a part of a template: text, a path whose values are printed, or a range over them.
type node struct {
	text  string
	path  *Path
	body  []node // of a range
	loops bool
}

// Append appends what the template makes of an object. Strings are printed as they are, other values as JSON; several values
// of one path are separated by a space.
func (t *Template) Append(out []byte, object lw.Value) []byte {
	return appendNodes(out, t.nodes, scope{root: object, current: object})
}

func appendNodes(out []byte, nodes []node, in scope) []byte {
	for _, n := range nodes {
		if n.path == nil {
			out = append(out, n.text...)
			continue
		}
		first := true
		for value := range n.path.find(in) {
			if n.loops {
				out = appendNodes(out, n.body, scope{root: in.root, current: value})
				continue
			}
			if !first {
				out = append(out, ' ')
			}
			first = false
			out = append(out, value.String()...)
		}
	}
	return out
}

// scope is where a path begins.
type scope struct {
	root    lw.Value // of $
	current lw.Value // of @, and of a path that begins with neither
}

// Path leads to values.
type Path struct {
	fromRoot bool
	steps    []step
}

// Find iterates over the values that the path leads to.
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

// step leads from a value to others, until yield returns false; so does it.
type step func(from, root lw.Value, yield func(lw.Value) bool) bool

func walk(steps []step, from, root lw.Value, yield func(lw.Value) bool) bool {
	if len(steps) == 0 {
		return yield(from)
	}
	return steps[0](from, root, func(to lw.Value) bool { return walk(steps[1:], to, root, yield) })
}

// toMembers leads to the members of these names.
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

// toAll leads to all elements and members.
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

// toDescendants leads to the value itself and all that is in it.
func toDescendants(from, root lw.Value, yield func(lw.Value) bool) bool {
	return yield(from) && toAll(from, root, func(to lw.Value) bool { return toDescendants(to, root, yield) })
}

// slice is a part of an array. A negative bound counts from its end.
type slice struct {
	start, end *int
	stride     int
}

func toSlices(slices []slice) step {
	return func(from, _ lw.Value, yield func(lw.Value) bool) bool {
		var all []lw.Value
		for element := range from.Elements() {
			all = append(all, element)
		}
		for _, s := range slices {
			for i := s.bound(s.start, 0, len(all)); i < s.bound(s.end, len(all), len(all)); i += s.stride {
				if !yield(all[i]) {
					return false
				}
			}
		}
		return true
	}
}

// bound returns a bound as an index from 0 to length.
func (s slice) bound(n *int, otherwise, length int) int {
	if n == nil {
		return otherwise
	}
	if *n < 0 {
		return max(*n+length, 0)
	}
	return min(*n, length)
}
