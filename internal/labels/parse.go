package labels

import (
	"errors"
	"strconv"
	"strings"
)

// Parse parses a label selector, which is a comma-separated list of requirements. A requirement has one of these forms:
// a, !a, a=b, a==b, a!=b, a>1, a<1, a in (b,c) or a notin (b,c). The empty string selects all objects.
func Parse(text string) (Selector, error) {
	var s Selector
	p := &parser{rest: text}
	p.advance()
	for p.token != "" {
		r, ok := p.requirement()
		if ok && p.take(",") {
			ok = p.token != "" // a trailing comma is an error
		} else {
			ok = ok && p.token == ""
		}
		if !ok {
			return nil, errors.New("unable to parse requirement: " + strconv.Quote(text) + ", at " + strconv.Quote(p.token+p.rest))
		}
		s = append(s, r)
	}
	return s, nil
}

type parser struct {
	rest  string
	token string // current token; "" at the end of the input
}

const (
	specials = "=!(),<>"
	spaces   = " \t\r\n"
)

// advance moves to the next token. A token is "==", "!=", any other character in specials, or a word.
func (p *parser) advance() {
	p.rest = strings.TrimLeft(p.rest, spaces)
	end := strings.IndexAny(p.rest, specials+spaces)
	switch {
	case end < 0:
		end = len(p.rest)
	case end == 0 && (strings.HasPrefix(p.rest, "==") || strings.HasPrefix(p.rest, "!=")):
		end = 2
	case end == 0:
		end = 1
	}
	p.token, p.rest = p.rest[:end], p.rest[end:]
}

// take reports whether the current token equals want. If so, it advances past the token.
func (p *parser) take(want string) bool {
	if p.token != want {
		return false
	}
	p.advance()
	return true
}

// word returns the current token and advances past it. ok is false if the token is a special character or the input has
// ended.
func (p *parser) word() (word string, ok bool) {
	if p.token == "" || strings.Contains(specials, p.token[:1]) {
		return "", false
	}
	word = p.token
	p.advance()
	return word, true
}

func (p *parser) requirement() (r requirement, ok bool) {
	r.negate = p.take("!")
	r.key, ok = p.word()
	if !ok || !isKey(r.key) {
		return r, false
	}
	if r.negate || p.token == "" || p.token == "," {
		return r, true
	}
	r.operator = p.token
	p.advance()
	switch r.operator {
	case "in", "notin":
		r.values, ok = p.list()
	case "=", "==", "!=", "<", ">":
		r.values = []string{""}
		if p.token != "" && p.token != "," {
			r.values[0], ok = p.word()
		}
	default:
		ok = false
	}
	for _, value := range r.values {
		ok = ok && isValue(value)
	}
	r.negate = r.operator == "notin" || r.operator == "!="
	if ok && (r.operator == "<" || r.operator == ">") {
		var err error
		r.limit, err = strconv.ParseInt(r.values[0], 10, 64)
		ok = err == nil
	}
	return r, ok
}

// list parses comma-separated values in parentheses. A missing value becomes "".
func (p *parser) list() (values []string, ok bool) {
	if !p.take("(") {
		return nil, false
	}
	for {
		value, _ := p.word()
		values = append(values, value)
		switch {
		case p.take(")"):
			return values, true
		case !p.take(","):
			return nil, false
		}
	}
}

// isKey reports whether text is a valid label key. A label key is a name, optionally preceded by a DNS subdomain and a
// slash.
func isKey(text string) bool {
	prefix, name, prefixed := strings.Cut(text, "/")
	if !prefixed {
		return isName(text)
	}
	if len(prefix) > 253 {
		return false
	}
	for more := true; more; {
		var label string
		label, prefix, more = strings.Cut(prefix, ".")
		if !isWord(label, "-", false) {
			return false
		}
	}
	return isName(name)
}

func isValue(text string) bool { return text == "" || isName(text) }

func isName(text string) bool { return len(text) <= 63 && isWord(text, "-_.", true) }

// isWord reports whether text is not empty, starts and ends with a letter or digit, and otherwise contains only
// letters, digits and characters in inner. Upper-case letters are valid only if upper is set.
func isWord(text, inner string, upper bool) bool {
	for i := range len(text) {
		c := text[i]
		alphanumeric := 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || upper && 'A' <= c && c <= 'Z'
		if !alphanumeric && (i == 0 || i == len(text)-1 || strings.IndexByte(inner, c) < 0) {
			return false
		}
	}
	return text != ""
}
