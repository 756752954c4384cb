package labels

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

const (
	spaces = " \t\r\n"
	space  = `[` + spaces + `]*`
	label  = `[a-z0-9](?:[-a-z0-9]*[a-z0-9])?`                      // a part of a DNS subdomain
	name   = `[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`      // a value, or the name in a key; at most 63 bytes
	key    = `(?:` + label + `(?:\.` + label + `)*/)?` + name       // a name, optionally preceded by a subdomain and a slash
	list   = space + `(?:` + name + `)?` + space                    // an element of a list
	lists  = `\((` + list + `(?:,` + list + `)*)\)`                 // values in parentheses; a missing value means ""
	infix  = `(==?|!=|[<>])` + space + `(` + name + `)?`            // an operator and a value
	within = `[` + spaces + `](in|notin)` + space + lists           // the operator in or notin with its values
	prefix = `^` + space + `(!?)` + space + `(` + key + `)` + space // the start of a requirement
)

// maxSubdomain is the maximum length of the subdomain in a key, in bytes. The regular expression does not check it.
const maxSubdomain = 253

// next matches the first requirement of a selector, up to the comma after it or the end of the text.
var next = regexp.MustCompile(prefix + `(?:` + infix + `|` + within + `)?` + space + `(,|$)`)

// Parse parses a label selector, which is a comma-separated list of requirements. A requirement has one of these forms:
// a, !a, a=b, a==b, a!=b, a>1, a<1, a in (b,c) or a notin (b,c). The empty string selects all objects. Errors begin like
// those of kube-apiserver, because lwtest sends them to clients.
func Parse(text string) (Selector, error) {
	var s Selector
	more := strings.Trim(text, spaces) != ""
	for rest := text; more; {
		match := next.FindStringSubmatch(rest)
		r, ok := newRequirement(match)
		if !ok {
			return nil, errors.New("unable to parse requirement: " + strconv.Quote(text) + ", at " + strconv.Quote(rest))
		}
		s = append(s, r)
		rest, more = rest[len(match[0]):], match[7] == ","
	}
	return s, nil
}

// newRequirement returns the requirement from the submatches of next. ok is false if the requirement is invalid.
func newRequirement(match []string) (r requirement, ok bool) {
	if match == nil || strings.Index(match[2], "/") > maxSubdomain {
		return r, false
	}
	r = requirement{key: match[2], operator: match[3] + match[5], values: []string{match[4]}}
	r.negate = match[1] == "!" || r.operator == "!=" || r.operator == "notin"
	var err error
	switch r.operator {
	case "<", ">":
		r.limit, err = strconv.ParseInt(match[4], 10, 64)
	case "in", "notin":
		r.values = strings.Split(match[6], ",")
		for i := range r.values {
			r.values[i] = strings.Trim(r.values[i], spaces)
		}
	}
	return r, err == nil && (match[1] == "" || r.operator == "")
}
