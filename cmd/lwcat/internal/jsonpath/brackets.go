package jsonpath

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// brackets parses the content of brackets and the closing bracket.
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
	start := p.at
	p.take("-")
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	if p.at == start {
		return nil
	}
	n, err := strconv.Atoi(p.text[start:p.at])
	if err != nil {
		p.at = start
		p.expected("an index")
		return nil
	}
	return &n
}

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
	start := p.at
	for p.at < len(p.text) && strings.IndexByte(" \t)=!<>", p.peek()) < 0 {
		p.at++
	}
	text := p.text[start:p.at]
	if value, err := lw.ParseValue([]byte(text)); err == nil {
		return operand{literal: value}
	}
	p.at = start
	p.expected("a path, a number, true, false, null or a quoted string")
	return operand{}
}
