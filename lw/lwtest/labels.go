package lwtest

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	labelPrefix = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	labelName   = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
)

func isLabelKey(text string) bool {
	prefix, name, prefixed := strings.Cut(text, "/")
	if !prefixed {
		name = text
	}
	return (!prefixed || labelPrefix.MatchString(prefix) && len(prefix) <= 253) && labelName.MatchString(name) && len(name) <= 63
}

func isLabelValue(text string) bool {
	return text == "" || labelName.MatchString(text) && len(text) <= 63
}

// labelParser reads a labelSelector: terms a, !a, a=b, a==b, a!=b, a>1, a<1, a in (b,c) and a notin (b,c), all of which must
// hold.
type labelParser struct {
	rest  string
	token string // "" at the end
}

const specials = "=!(),<>"

// advance moves to the next token: a special character, "==", "!=", or all up to one of these or to white space.
func (p *labelParser) advance() {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	end := strings.IndexAny(p.rest, specials+" \t\r\n")
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

// take moves over a token, if it comes.
func (p *labelParser) take(token string) bool {
	if p.token != token {
		return false
	}
	p.advance()
	return true
}

// word takes a token that is no special character.
func (p *labelParser) word() (word string, ok bool) {
	if p.token == "" || strings.Contains(specials, p.token[:1]) {
		return "", false
	}
	word = p.token
	p.advance()
	return word, true
}

func parseLabels(text string) (s selector, err error) {
	p := &labelParser{rest: text}
	p.advance()
	for p.token != "" {
		r, ok := p.requirement()
		if ok && p.take(",") {
			ok = p.token != "" // another one has to follow
		} else {
			ok = ok && p.token == ""
		}
		if !ok {
			return nil, badRequest("unable to parse requirement: %q, at %q", text, p.token+p.rest)
		}
		s = append(s, r)
	}
	return s, nil
}

func (p *labelParser) requirement() (r requirement, ok bool) {
	r.negate = p.take("!")
	key, ok := p.word()
	if !ok || !isLabelKey(key) {
		return r, false
	}
	r.value = func(o *object) (string, bool) { value, ok := o.labelled()[key]; return value, ok }
	if r.negate || p.token == "" || p.token == "," {
		return r, true
	}
	operator := p.token
	p.advance()
	var values []string
	switch operator {
	case "in", "notin":
		values, ok = p.list()
	case "=", "==", "!=", "<", ">":
		values = []string{""}
		if p.token != "" && p.token != "," {
			values[0], ok = p.word()
		}
	default:
		ok = false
	}
	for _, value := range values {
		ok = ok && isLabelValue(value)
	}
	r.negate, r.holds = operator == "notin" || operator == "!=", among(values...)
	if ok && (operator == "<" || operator == ">") {
		limit, err := strconv.ParseInt(values[0], 10, 64)
		sign := map[string]int{"<": -1, ">": 1}[operator]
		r.holds, ok = beyond(limit, sign), err == nil
	}
	return r, ok
}

// list reads values in parentheses; where none stands, there is an empty one.
func (p *labelParser) list() (values []string, ok bool) {
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
