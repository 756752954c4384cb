package jsonpath

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Parse parses a template. The error contains the position and the expected syntax.
func Parse(text string) (Template, error) {
	p := &parser{text: text}
	nodes := p.nodes(false)
	if p.err == nil && len(nodes) < 2 && (len(nodes) == 0 || nodes[0].path == nil && nodes[0].text == text) {
		p.expected("a path in braces such as {.metadata.name}")
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
	path := p.path()
	if p.at < len(p.text) {
		p.expected("a dot or [")
	}
	return path, p.err
}

// parser parses text. After an error, it moves to the end so that all loops terminate.
type parser struct {
	text string
	at   int
	err  error
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

// peek returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// take skips prefix and reports whether it was present.
func (p *parser) take(prefix string) bool {
	if !strings.HasPrefix(p.text[p.at:], prefix) {
		return false
	}
	p.at += len(prefix)
	return true
}

func (p *parser) expect(prefix string) {
	if p.spaces(); !p.take(prefix) {
		p.expected(prefix)
	}
}

func (p *parser) spaces() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
}

// nodes parses up to the end of the text, or up to {end} in a range.
func (p *parser) nodes(inRange bool) (nodes []node) {
	for p.at < len(p.text) {
		if p.peek() != '{' {
			text, _, _ := strings.Cut(p.text[p.at:], "{")
			p.at += len(text)
			nodes = append(nodes, node{text: text})
			continue
		}
		p.at++
		p.spaces()
		switch {
		case p.peek() == '"' || p.peek() == '\'':
			nodes = append(nodes, node{text: p.quoted()})
			p.expect("}")
		case p.word("range"):
			p.spaces()
			n := node{path: p.path(), loops: true}
			p.expect("}")
			n.body = p.nodes(true)
			nodes = append(nodes, n)
		case inRange && p.word("end"):
			p.expect("}")
			return nodes
		default:
			nodes = append(nodes, node{path: p.path()})
			p.expect("}")
		}
	}
	if inRange {
		p.expected("{end}")
	}
	return nodes
}

// word skips a complete word and reports whether it was present.
func (p *parser) word(word string) bool {
	rest, found := strings.CutPrefix(p.text[p.at:], word)
	if !found || rest != "" && !strings.ContainsRune(" \t}.[$@", rune(rest[0])) {
		return false
	}
	p.at += len(word)
	return true
}

// path parses a path and its steps.
func (p *parser) path() *Path {
	path := new(Path)
	start := p.at
	if p.take("$") {
		path.fromRoot = true
	} else {
		p.take("@")
	}
	for {
		switch {
		case p.take(".."):
			path.steps = append(path.steps, toDescendants)
			if p.peek() != '[' {
				path.steps = append(path.steps, p.member())
			}
		case p.peek() == '[':
			p.at++
			path.steps = append(path.steps, p.brackets())
		case p.take("."):
			if len(path.steps) == 0 && p.at-start <= 2 && strings.IndexByte(" }", p.peek()) >= 0 {
				return path // a lone dot selects the object itself
			}
			if p.peek() != '[' {
				path.steps = append(path.steps, p.member())
			}
		default:
			if p.at == start {
				p.expected("a path that starts with a dot, [, $ or @")
			}
			return path
		}
	}
}

// memberName matches a name in which a backslash escapes a character.
var (
	memberName = regexp.MustCompile(`(?s)^(?:\\.|[^ \t\r\n.[\]{}()=!<>,|&'"\\])+`)
	escaped    = regexp.MustCompile(`(?s)\\(.)`)
)

// member parses a name or *.
func (p *parser) member() step {
	if p.take("*") {
		return toAll
	}
	name := memberName.FindString(p.text[p.at:])
	if name == "" {
		p.expected("a name")
	} else {
		p.at += len(name)
	}
	return toMembers([]string{escaped.ReplaceAllString(name, "$1")})
}

// quoted parses a string in single or double quotes with Go's escape sequences.
func (p *parser) quoted() string {
	quote := p.peek()
	var text strings.Builder
	for rest := p.text[p.at+1:]; ; {
		if rest == "" {
			p.expected("a closing quote")
			return ""
		}
		if rest[0] == quote {
			p.at = len(p.text) - len(rest) + 1
			return text.String()
		}
		r, _, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil {
			p.at = len(p.text) - len(rest)
			p.expected("an escape sequence such as \\n")
			return ""
		}
		text.WriteRune(r)
		rest = tail
	}
}

// brackets parses the rest of a bracket expression, including the closing bracket.
func (p *parser) brackets() (s step) {
	p.spaces()
	switch c := p.peek(); {
	case p.take("*"):
		s = toAll
	case p.take("?("):
		f := p.filter()
		p.expect(")")
		s = f.toMatching
	case c == '"' || c == '\'':
		s = toMembers(list(p, p.quoted))
	default:
		s = toSlices(list(p, p.slice))
	}
	p.expect("]")
	return s
}

// list parses values separated by commas.
func list[T any](p *parser, read func() T) (all []T) {
	for {
		p.spaces()
		all = append(all, read())
		if p.spaces(); !p.take(",") {
			return all
		}
	}
}

// slice parses an index or a slice: 1, -1, 1:3, :3 or 1:.
func (p *parser) slice() slice {
	start := p.number()
	if !p.take(":") {
		switch {
		case start == nil:
			p.expected("an index, a slice, *, a quoted name or a filter")
			return slice{}
		case *start == -1:
			return slice{start: start}
		}
		end := *start + 1
		return slice{start, &end}
	}
	return slice{start: start, end: p.number()}
}

func (p *parser) number() *int {
	digits := integer.FindString(p.text[p.at:])
	n, err := strconv.Atoi(digits)
	switch {
	case digits == "":
		return nil
	case err != nil:
		p.expected("an index")
		return nil
	}
	p.at += len(digits)
	return &n
}

var integer = regexp.MustCompile(`^-?[0-9]+`)

func (p *parser) filter() *filter {
	f := &filter{left: p.operand()}
	p.spaces()
	for _, operator := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(operator) {
			f.operator, f.right = operator, p.operand()
			return f
		}
	}
	if p.peek() != ')' {
		p.expected("==, !=, <, <=, >, >= or )")
	}
	return f
}

// operand parses a path or a literal.
func (p *parser) operand() operand {
	p.spaces()
	switch c := p.peek(); {
	case c == '"' || c == '\'':
		text, _ := json.Marshal(p.quoted()) // encoding a string cannot fail
		value, _ := lw.ParseValue(text)     // the text is a JSON string
		return operand{literal: value}
	case strings.IndexByte("@$.[", c) >= 0:
		return operand{path: p.path()}
	}
	text := p.text[p.at:]
	if end := strings.IndexAny(text, " \t)=!<>"); end >= 0 {
		text = text[:end]
	}
	if value, err := lw.ParseValue([]byte(text)); err == nil {
		p.at += len(text)
		return operand{literal: value}
	}
	p.expected("a path, a number, true, false, null or a quoted string")
	return operand{}
}
