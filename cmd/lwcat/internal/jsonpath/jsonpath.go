// Package jsonpath implements kubectl's JSONPath templates on JSON text:
//
//	{.metadata.name}{"\t"}{range .spec.containers[*]}{.image} {end}
//
// It supports $ and @, .name, ['name'], [0], [-1], [1:3], [0,2], ['a','b'], [*], .*, ..name and filters such as
// [?(@.type=="Ready")]. As with kubectl get, a path without a match prints nothing.
package jsonpath

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Template is a parsed template.
type Template []node

// node is a part of a template: text, a path whose values are printed, or a range over a path's values.
type node struct {
	text  string   // literal text
	path  *Path    // nil for text
	body  Template // the nodes between {range} and {end}
	loops bool     // whether the node is a range; its body may be empty
}

// Append appends the template's output for an object. text converts a value to output, for example lw.Value.String.
// If a path selects several values, Append separates them with spaces.
func (t Template) Append(out []byte, object lw.Value, text func(lw.Value) string) []byte {
	return t.append(out, object, object, text)
}

func (t Template) append(out []byte, current, root lw.Value, text func(lw.Value) string) []byte {
	for _, n := range t {
		out = append(out, n.text...)
		if n.path == nil {
			continue
		}
		separator := ""
		n.path.walk(current, root, func(value lw.Value) bool {
			if n.loops {
				out = n.body.append(out, value, root, text)
				return true
			}
			out = append(out, separator+text(value)...)
			separator = " "
			return true
		})
	}
	return out
}

// Path is a parsed path.
type Path struct {
	walk step
	// Fields contains the names on the path, and [] for an element of an array. The list ends before the first step
	// that can be resolved only for an actual object, such as ..name. lwcat looks these fields up in the server's
	// schema.
	Fields []string
}

// Find iterates over the values that the path selects.
func (p *Path) Find(object lw.Value) iter.Seq[lw.Value] {
	return func(yield func(lw.Value) bool) { p.walk(object, object, yield) }
}

// First returns the first value that the path selects, or the zero Value.
func (p *Path) First(object lw.Value) (first lw.Value) {
	for first = range p.Find(object) {
		break
	}
	return first
}

// step calls yield for each value that it selects, until yield returns false. In that case, the step also returns
// false. root is the value that $ selects, and from is the value that @ selects, where paths start by default.
type step func(from, root lw.Value, yield func(lw.Value) bool) bool

// then returns a step that applies next to each value that s selects.
func (s step) then(next step) step {
	return func(from, root lw.Value, yield func(lw.Value) bool) bool {
		return s(from, root, func(to lw.Value) bool { return next(to, root, yield) })
	}
}

func toCurrent(from, _ lw.Value, yield func(lw.Value) bool) bool { return yield(from) }
func toRoot(_, root lw.Value, yield func(lw.Value) bool) bool    { return yield(root) }

// toMember returns a step that selects a member.
func toMember(name string) step {
	return func(from, _ lw.Value, yield func(lw.Value) bool) bool {
		member := from.Member(name)
		return !member.Exists() || yield(member)
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

// toSlice returns a step that selects a part of an array. Negative bounds count from the end.
func toSlice(start, end int) step {
	return func(from, _ lw.Value, yield func(lw.Value) bool) bool {
		all := slices.Collect(from.Elements())
		bound := func(n int) int {
			if n < 0 {
				n += len(all)
			}
			return min(max(n, 0), len(all))
		}
		for i := bound(start); i < bound(end); i++ {
			if !yield(all[i]) {
				return false
			}
		}
		return true
	}
}

// toEach returns a step that selects the values of all steps, in the order of the steps.
func toEach(steps []step) step {
	return func(from, root lw.Value, yield func(lw.Value) bool) bool {
		return !slices.ContainsFunc(steps, func(s step) bool { return !s(from, root, yield) })
	}
}

// Holds reports whether the operator = == != < <= > or >= holds for two values. It compares two numbers by value, and
// other values as text.
func Holds(a, operator, b string) bool {
	return strings.Contains([]string{" < <= != ", " = == <= >= ", " > >= != "}[Compare(a, b)+1], " "+operator+" ")
}

// Compare returns the order of two values. It compares two numbers by value, and other values as text.
func Compare(a, b string) int {
	if order, ok := compareNumbers(a, b); ok {
		return order
	}
	return strings.Compare(a, b)
}

// compareNumbers returns the order of two numbers. It compares 64-bit integers exactly and other numbers as floats. ok
// is false if one of them is not a number.
func compareNumbers(a, b string) (order int, ok bool) {
	i, err := strconv.ParseInt(a, 10, 64)
	j, err2 := strconv.ParseInt(b, 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j), true
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return cmp.Compare(x, y), err == nil && err2 == nil
}

// Fields returns the fields of each path that begins at the object. Paths in the body of a range begin at a value of
// the range instead.
func (t Template) Fields() (all [][]string) {
	for _, n := range t {
		if n.path != nil {
			all = append(all, n.path.Fields)
		}
	}
	return all
}

// Parse parses a template. The error contains the position and the expected syntax.
func Parse(text string) (Template, error) {
	p := &parser{text: text}
	nodes := p.nodes(false)
	if p.err == nil && !strings.Contains(text, "{") {
		p.expected("a path in braces such as {." + cmp.Or(strings.TrimPrefix(text, "."), "metadata.name") + "}")
	}
	return nodes, p.err
}

// ParsePath parses a path. Braces and the first dot are optional.
func ParsePath(text string) (*Path, error) {
	inner := strings.TrimSpace(text)
	if strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}") {
		inner = inner[1 : len(inner)-1]
	}
	if inner != "" && !strings.ContainsRune(".[$@", rune(inner[0])) {
		inner = "." + inner
	}
	p := &parser{text: inner}
	path := p.newPath()
	if p.at < len(p.text) {
		p.expected("a dot or [")
	}
	return path, p.err
}

// parser parses text. After an error, it moves to the end so that all loops terminate.
type parser struct {
	text   string
	at     int
	err    error
	fields []string // names on the current path, as in Path.Fields; "*" is a step that needs an actual object
}

func (p *parser) newPath() *Path {
	p.fields = nil
	walk := p.path()
	if end := slices.Index(p.fields, "*"); end >= 0 {
		p.fields = p.fields[:end]
	}
	return &Path{walk, p.fields}
}

func (p *parser) expected(what string) {
	if p.err == nil {
		found := "the end"
		if p.at < len(p.text) {
			found = strconv.Quote(p.text[p.at:min(len(p.text), p.at+12)])
		}
		p.err = fmt.Errorf("in %q, at byte %d: expected %s, found %s", p.text, p.at, what, found)
	}
	p.at = len(p.text)
}

// match skips the text that matches the pattern, which must begin with ^, and returns it.
func (p *parser) match(pattern *regexp.Regexp) string {
	found := pattern.FindString(p.text[p.at:])
	p.at += len(found)
	return found
}

// take skips prefix and reports whether it was present.
func (p *parser) take(prefix string) bool {
	found := strings.HasPrefix(p.text[p.at:], prefix)
	if found {
		p.at += len(prefix)
	}
	return found
}

// expect skips white space and prefix.
func (p *parser) expect(prefix string) {
	if p.match(space); !p.take(prefix) {
		p.expected(prefix)
	}
}

// peek returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

var (
	space      = regexp.MustCompile(`^[ \t\r\n]*`)
	plainText  = regexp.MustCompile(`^[^{]+`)
	rangeWord  = regexp.MustCompile(`^range\b[ \t]*`)
	endWord    = regexp.MustCompile(`^end\b`)
	memberName = regexp.MustCompile(`(?s)^(?:\\.|[^ \t\r\n.[\]{}()=!<>,|&'"\\])+`)
	escaped    = regexp.MustCompile(`(?s)\\(.)`)
	quotedText = regexp.MustCompile(`(?s)^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')`)
	integer    = regexp.MustCompile(`^-?[0-9]+`)
	operator   = regexp.MustCompile(`^(?:[=!]=|[<>]=?)`)
	literal    = regexp.MustCompile(`^[^ \t)=!<>]+`)
)

// nodes parses up to the end of the text, or up to {end} in a range.
func (p *parser) nodes(inRange bool) (nodes Template) {
	for p.at < len(p.text) {
		if text := p.match(plainText); text != "" {
			nodes = append(nodes, node{text: text})
			continue
		}
		p.expect("{")
		p.match(space)
		var n node
		switch {
		case p.isQuote():
			n.text = p.quoted()
			p.expect("}")
		case p.match(rangeWord) != "":
			n = node{path: p.newPath(), loops: true}
			p.expect("}")
			n.body = p.nodes(true)
		case inRange && p.match(endWord) != "":
			p.expect("}")
			return nodes
		default:
			n.path = p.newPath()
			p.expect("}")
		}
		nodes = append(nodes, n)
	}
	if inRange {
		p.expected("{end}")
	}
	return nodes
}

// path parses a path and its steps.
func (p *parser) path() step {
	at, start := step(toCurrent), p.at
	if p.take("$") {
		at = toRoot
	} else {
		p.take("@")
	}
	for {
		switch descends := p.take(".."); {
		case descends:
			at = at.then(toDescendants)
			p.fields = append(p.fields, "*")
			fallthrough
		case p.take("."):
			if c := p.peek(); !descends && p.at-start <= 2 && (c == ' ' || c == '}') {
				return at // a lone dot, perhaps after $ or @, selects the object itself
			} else if c != '[' { // .[0] and ..[0] are valid, too
				at = at.then(p.member())
			}
		case p.take("["):
			at = at.then(p.brackets())
		default:
			if p.at == start {
				p.expected("a path that starts with a dot, [, $ or @")
			}
			return at
		}
	}
}

// member parses a name or *. In a name, a backslash escapes the next character.
func (p *parser) member() step {
	if p.take("*") {
		p.fields = append(p.fields, "*")
		return toAll
	}
	name := escaped.ReplaceAllString(p.match(memberName), "$1")
	if name == "" {
		p.expected("a name")
	}
	p.fields = append(p.fields, name)
	return toMember(name)
}

func (p *parser) isQuote() bool { return p.peek() == '"' || p.peek() == '\'' }

// quoted parses a string in single or double quotes with Go's escape sequences.
func (p *parser) quoted() string {
	text := p.match(quotedText)
	if text == "" {
		p.expected("a closing quote")
		return ""
	}
	value, err := strconv.Unquote(`"` + requote.Replace(text[1:len(text)-1]) + `"`)
	if err != nil {
		p.at -= len(text)
		p.expected("an escape sequence such as \\n")
	}
	return value
}

// requote converts a string in single or double quotes to one in double quotes.
var requote = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `\"`, `\"`, `"`, `\"`)

// brackets parses the rest of a bracket expression, including the closing bracket.
func (p *parser) brackets() (s step) {
	p.match(space)
	field := "[]"
	switch fields := p.fields; {
	case p.take("*"):
		s = toAll
	case p.take("?("):
		s = p.filter()
		p.expect(")")
		p.fields = fields // drop the fields that the filter has added
	default:
		var each []step
		for more := true; more; more = p.take(",") {
			if p.match(space); p.isQuote() {
				field = p.quoted()
				each = append(each, toMember(field))
			} else {
				each = append(each, p.slice())
			}
			p.match(space)
		}
		if s = toEach(each); len(each) > 1 && field != "[]" {
			field = "*" // one of several names
		}
	}
	p.fields = append(p.fields, field)
	p.expect("]")
	return s
}

// slice parses an index or a slice: 1, -1, 1:3, :3 or 1:.
func (p *parser) slice() step {
	start, given := p.number(0)
	if p.take(":") {
		end, _ := p.number(math.MaxInt)
		return toSlice(start, end)
	}
	switch {
	case !given:
		p.expected("an index, a slice, *, a quoted name or a filter")
	case start == -1: // start+1 would be the first element
		return toSlice(start, math.MaxInt)
	}
	return toSlice(start, start+1)
}

// number parses an integer, and returns fallback if there is none.
func (p *parser) number(fallback int) (n int, given bool) {
	digits := p.match(integer)
	if digits == "" {
		return fallback, false
	}
	n, _ = strconv.Atoi(digits) // the largest integer if the number is too large, which is also past the end of an array
	return n, true
}

// operand returns a value's text, and whether the value exists.
type operand func(from, root lw.Value) (text string, exists bool)

// filter parses a comparison, or a path that must exist. As in kubectl, comparisons with a missing value never match.
func (p *parser) filter() step {
	left := p.operand()
	p.match(space)
	compare := p.match(operator)
	right := left
	if compare != "" {
		right = p.operand()
	} else if p.peek() != ')' {
		p.expected("==, !=, <, <=, >, >= or )")
	}
	return step(toAll).then(func(from, root lw.Value, yield func(lw.Value) bool) bool {
		a, exists := left(from, root)
		b, too := right(from, root)
		return !exists || !too || compare != "" && !Holds(a, compare, b) || yield(from)
	})
}

// operand parses a path or a literal.
func (p *parser) operand() operand {
	p.match(space)
	var text string
	switch c := p.peek(); {
	case p.isQuote():
		text = p.quoted()
	case strings.IndexByte("@$.[", c) >= 0:
		path := p.path()
		return func(from, root lw.Value) (text string, exists bool) {
			path(from, root, func(v lw.Value) bool {
				text, exists = v.String(), true
				if v.Raw() == "null" {
					text = "null"
				}
				return false
			})
			return text, exists
		}
	default:
		at := p.at
		text = p.match(literal)
		if _, err := lw.ParseValue([]byte(text)); err != nil {
			p.at = at
			p.expected("a path, a number, true, false, null or a quoted string")
		}
	}
	return func(_, _ lw.Value) (string, bool) { return text, true }
}
