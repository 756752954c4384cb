// Package condition implements the conditions of --until, for example status.phase=Running.
package condition

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Condition is a condition on the objects of collections:
//
//	[any|all|none] TERM [&& TERM]...
//
// A term is a condition on one object:
//
//	PATH             the field exists and is not null, false or ""
//	PATH OP VALUE    OP is one of = == != < <= > >=; two numbers are compared as numbers
//	condition=TYPE   status.conditions contains the type with the status True
//	condition=TYPE=STATUS
//
// "any" is the default: at least one object matches all terms. "all" means that at least one object exists and every
// object matches. "none" means that no object matches. "exists" and "deleted" are complete conditions: at least one
// object exists, or no object exists. Only "any" and "exists" can hold before the first lists are complete.
type Condition struct {
	text  string
	over  quantifier
	terms []term
}

type quantifier uint8

const (
	anyOf quantifier = iota
	allOf
	noneOf
)

type term func(*lw.Object) bool

// SyntaxError reports an invalid condition.
type SyntaxError struct{ Text, Problem string }

func (e *SyntaxError) Error() string { return fmt.Sprintf("condition %q: %s", e.Text, e.Problem) }

// Parse parses a condition. The error is a *[SyntaxError].
func Parse(text string) (*Condition, error) {
	c := &Condition{text: text}
	rest := strings.TrimSpace(text)
	switch rest {
	case "exists":
		return c, nil
	case "deleted":
		c.over = noneOf
		return c, nil
	}
	rest = strings.TrimPrefix(rest, "jsonpath=") // the syntax of kubectl wait
	for word, over := range map[string]quantifier{"any ": anyOf, "all ": allOf, "none ": noneOf} {
		if after, found := strings.CutPrefix(rest, word); found {
			c.over, rest = over, after
			break
		}
	}
	for part := range strings.SplitSeq(rest, "&&") {
		term, problem := parseTerm(strings.TrimSpace(part))
		if problem != "" {
			return nil, &SyntaxError{Text: text, Problem: problem}
		}
		c.terms = append(c.terms, term)
	}
	return c, nil
}

func (c *Condition) String() string { return c.text }

// operators are in the order in which parseTerm tries them. Longer operators precede their prefixes.
var operators = []struct {
	text  string
	holds func(order int) bool
}{
	{"==", func(order int) bool { return order == 0 }},
	{"!=", func(order int) bool { return order != 0 }},
	{"<=", func(order int) bool { return order <= 0 }},
	{">=", func(order int) bool { return order >= 0 }},
	{"<", func(order int) bool { return order < 0 }},
	{">", func(order int) bool { return order > 0 }},
	{"=", func(order int) bool { return order == 0 }},
}

func parseTerm(text string) (t term, problem string) {
	at := strings.IndexAny(text, "=!<>")
	if at < 0 {
		path, problem := parsePath(text)
		return func(o *lw.Object) bool { return isTrue(o.Get(path)) }, problem
	}
	left, right := strings.TrimSpace(text[:at]), text[at:]
	for _, operator := range operators {
		value, found := strings.CutPrefix(right, operator.text)
		if !found {
			continue
		}
		value = strings.TrimSpace(value)
		if strings.IndexAny(value, "=!<>") == 0 {
			return nil, "expected a value after " + operator.text + ", quoted if it starts with an operator, but found " + strconv.Quote(value)
		}
		if left == "condition" && strings.Trim(operator.text, "=") == "" {
			return conditionTerm(value), ""
		}
		path, problem := parsePath(left)
		value = unquote(value)
		return func(o *lw.Object) bool {
			field := o.Get(path)
			return (field.Exists() || operator.text == "!=") && operator.holds(compare(field.String(), value))
		}, problem
	}
	return nil, "expected one of = == != < <= > >= after " + left
}

// reserved contains the words that cannot name a field.
var reserved = map[string]bool{"exists": true, "deleted": true, "condition": true, "any": true, "all": true, "none": true}

// parsePath accepts the paths of lw.Value.Get and kubectl's forms .status.phase and {.status.phase}.
func parsePath(text string) (path, problem string) {
	path = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(unquote(text), "{"), "}"), ".")
	if reserved[strings.ToLower(path)] {
		return "", path + " is not a field: use exists and deleted alone, and write a condition in the form condition=Ready"
	}
	if _, err := lw.Project(path); err != nil || strings.ContainsAny(path, " \t\n") {
		return "", "expected a field path such as status.phase, but found " + strconv.Quote(text)
	}
	return path, ""
}

func unquote(value string) string {
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		return value[1 : len(value)-1]
	}
	return value
}

func conditionTerm(text string) term {
	name, status, given := strings.Cut(text, "=")
	if !given {
		status = "True"
	}
	return func(o *lw.Object) bool {
		for condition := range o.Get("status.conditions").Elements() {
			if strings.EqualFold(condition.Get("type").String(), name) {
				return strings.EqualFold(condition.Get("status").String(), status)
			}
		}
		return false
	}
}

func isTrue(v lw.Value) bool {
	return v.Exists() && v != "null" && v != "false" && v != `""`
}

// compare compares integers exactly, other numbers as floats, and all other values as strings.
func compare(a, b string) int {
	i, err := strconv.ParseInt(a, 10, 64)
	j, err2 := strconv.ParseInt(b, 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j)
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

func (c *Condition) matches(o *lw.Object) bool {
	for _, term := range c.terms {
		if !term(o) {
			return false
		}
	}
	return true
}
