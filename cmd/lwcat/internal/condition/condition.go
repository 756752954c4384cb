// Package condition implements the conditions that --until accepts, for example status.phase=Running.
package condition

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Grammar describes the syntax of conditions.
const Grammar = `CONDITION
  exists                     at least one object exists
  deleted                    no object exists
  rollout                    all Deployments, StatefulSets and DaemonSets are rolled out
  [any|all|none] TERM [&& TERM]...   any (the default), all or none of the objects match all terms;
                             without objects, only none holds
TERM
  FIELD                      the field is present and is not null, false or ""
  FIELD OP VALUE             OP is = == != < <= > or >=; two numbers are compared as numbers
  condition=TYPE[=STATUS]    status.conditions has TYPE with STATUS True (the default), False or Unknown
FIELD is a path such as status.phase, .data.key, status.containerStatuses[*].ready or metadata.labels.app\.io/name.
VALUE is a string, or a FIELD that begins with a dot, metadata., spec. or status.; quotes make it a string.
`

// Condition is a parsed --until condition; see [Grammar]. A condition with "all" needs at least one object. Only
// "any" and "exists" can hold before the first lists are complete.
type Condition struct {
	over    quantifier
	terms   []term
	rollout bool
}

type quantifier uint8

const (
	anyOf quantifier = iota
	allOf
	noneOf
)

// SyntaxError reports an invalid condition.
type SyntaxError struct{ Text, Problem string }

func (e *SyntaxError) Error() string { return fmt.Sprintf("condition %q: %s", e.Text, e.Problem) }

// Parse parses a condition. The error is a *[SyntaxError].
func Parse(text string) (*Condition, error) {
	c := &Condition{}
	rest := strings.TrimSpace(text)
	if whole, ok := complete[rest]; ok {
		return &whole, nil
	}
	rest = strings.TrimPrefix(rest, "jsonpath=") // kubectl wait requires this prefix
	for word, over := range map[string]quantifier{"any ": anyOf, "all ": allOf, "none ": noneOf} {
		if after, found := strings.CutPrefix(rest, word); found {
			c.over, rest = over, after
			break
		}
	}
	parts, problem := splitTerms(rest)
	for i := 0; i < len(parts) && problem == ""; i++ {
		var t term
		t, problem = parseTerm(strings.TrimSpace(parts[i]))
		c.terms = append(c.terms, t)
	}
	if problem != "" {
		return nil, &SyntaxError{Text: text, Problem: problem}
	}
	return c, nil
}

// Rollout reports whether the condition waits for a rollout.
func (c *Condition) Rollout() bool { return c.rollout }

// NeedsAll reports whether the condition depends on every object, so that it cannot be decided from a part of the
// collection.
func (c *Condition) NeedsAll() bool { return c.over != anyOf }

// splitTerms splits a string at && outside quotes. It rejects other operators between terms.
func splitTerms(text string) (terms []string, problem string) {
	start, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(text[i:], "&&"):
			terms = append(terms, text[start:i])
			i++
			start = i + 1
		case c == '|':
			return nil, "| and || are not supported: use && if all terms must match, or \"none\" with the opposite terms; quote a value that contains \"|\""
		case c == '&' || c == ',':
			return nil, fmt.Sprintf("expected && between terms, but found %q; quote a value that contains %[1]q", string(c))
		}
	}
	if quote != 0 {
		return nil, fmt.Sprintf("a closing %c is missing", quote)
	}
	return append(terms, text[start:]), ""
}

// corrections maps lower-case words that users write by mistake to the intended conditions.
var corrections = map[string]string{
	"create": "exists", "created": "exists", "exist": "exists", "gone": "deleted", "removed": "deleted", "complete": "condition=Complete",
	"ready": "condition=Ready", "available": "condition=Available", "running": "status.phase=Running", "pending": "status.phase=Pending",
	"succeeded": "status.phase=Succeeded", "failed": "status.phase=Failed", "bound": "status.phase=Bound",
	"phase": "status.phase", "replicas": "spec.replicas", "readyreplicas": "status.readyReplicas", "name": "metadata.name",
	"condition": "condition=Ready", "any": "any FIELD", "all": "all FIELD", "none": "none FIELD",
}

// complete contains the one-word conditions, which cannot be combined with other terms.
var complete = map[string]Condition{"exists": {}, "deleted": {over: noneOf}, "rollout": {over: allOf, rollout: true}}

// correct returns a suggestion if word is used as a field path but is more likely a mistake. Otherwise it returns
// "".
func correct(word string, alone bool) (problem string) {
	lower := strings.ToLower(word)
	if _, ok := complete[lower]; ok {
		if word != lower {
			return word + " is not a field: did you mean " + lower + "?"
		}
		return word + " is not a field: " + lower + " cannot be part of a longer condition; use a separate --until for it"
	}
	meant := corrections[lower]
	if near := nearest.Likely(lower, slices.Sorted(maps.Keys(complete))); alone && meant == "" && len(near) > 0 && len(word) > 3 {
		meant = near[0]
	}
	isType := word != "" && word[0] >= 'A' && word[0] <= 'Z' && !strings.ContainsAny(word, " \t.\\[]{}")
	switch {
	case meant != "":
		return word + " is not a field: did you mean " + meant + "?"
	case isType:
		return word + " is not a field: did you mean condition=" + word + "?"
	case alone && word != "" && !strings.ContainsAny(word, " \t.\\[]{}"):
		return word + " is not a field path: write ." + word + " for a field at the top level"
	}
	return ""
}

func (c *Condition) matches(o *lw.Object) bool {
	return !slices.ContainsFunc(c.terms, func(t term) bool { return !t(o) })
}

// term is a condition on one object.
type term func(*lw.Object) bool

// operation matches a comparison: its left side, its operator and its right side.
var operation = regexp.MustCompile(`(?s)^([^=!<>]*)(==|!=|<=|>=|<|>|=)(.*)$`)

// trueFor lists the operators that hold if the left value is less than (-1), equal to (0) or greater than (1) the
// right one.
var trueFor = map[int][]string{-1: {"<", "<=", "!="}, 0: {"=", "==", "<=", ">="}, 1: {">", ">=", "!="}}

func parseTerm(text string) (t term, problem string) {
	if !strings.ContainsAny(text, "=!<>") {
		path, problem := parsePath(text, true)
		return func(o *lw.Object) bool { return isTrue(o.Get(path)) }, problem
	}
	parts := operation.FindStringSubmatch(text)
	if parts == nil {
		left, _, _ := strings.Cut(text, "!")
		return nil, "expected one of the operators = == != < <= > >= after " + strings.TrimSpace(left)
	}
	left, operator, value := strings.TrimSpace(parts[1]), parts[2], strings.TrimSpace(parts[3])
	if left == "condition" && strings.Trim(operator, "=") == "" {
		return conditionTerm(value)
	}
	path, problem := parsePath(left, false)
	if problem != "" {
		return nil, problem
	}
	other, problem := parseValue(operator, value)
	return func(o *lw.Object) bool {
		a := o.Get(path)
		b, ok := other(o)
		if !a.Exists() || !ok {
			return operator == "!="
		}
		return slices.Contains(trueFor[compare(a.String(), b)], operator)
	}, problem
}

// parseValue parses the text to the right of an operator. The returned function returns the value, and whether it
// exists.
func parseValue(operator, text string) (value func(*lw.Object) (string, bool), problem string) {
	literal := unquote(text)
	switch {
	case text == "":
		return nil, `expected a value after ` + operator + `; write "" for an empty string`
	case literal != text:
	case strings.ContainsAny(text[:1], "=!<>~"):
		return nil, "expected a value after " + operator + ", quoted if it starts with an operator, but found " + strconv.Quote(text)
	case strings.ContainsAny(text, " \t\n"):
		return nil, "quote the value " + strconv.Quote(text) + " because it contains a space, or write && between terms"
	case isField.MatchString(text):
		path, problem := parsePath(text, false)
		return func(o *lw.Object) (string, bool) { v := o.Get(path); return v.String(), v.Exists() }, problem
	}
	return func(*lw.Object) (string, bool) { return literal, true }, ""
}

// isField matches values that are field paths. A dot before a digit begins a number.
var isField = regexp.MustCompile(`^(\{?\.[^0-9]|metadata\.|spec\.|status\.)`)

// parsePath accepts paths in lw.Value.Get's syntax and kubectl's forms .status.phase and {.status.phase}. Set alone if
// no operator follows the path, because other mistakes are likely then.
func parsePath(text string, alone bool) (path, problem string) {
	written := strings.TrimSuffix(strings.TrimPrefix(unquote(text), "{"), "}")
	if problem := correct(written, alone); problem != "" {
		return "", problem
	}
	path = strings.TrimPrefix(written, ".")
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

// conditionTerm parses the part of condition=TYPE[=STATUS] after the first equals sign.
func conditionTerm(text string) (t term, problem string) {
	name, status, given := strings.Cut(text, "=")
	if !given {
		status = "True"
	}
	if name == "" || strings.ContainsAny(name, " \t!<>") {
		return nil, "expected a condition type, for example condition=Ready, but found " + strconv.Quote(text)
	}
	if !strings.EqualFold(status, "True") && !strings.EqualFold(status, "False") && !strings.EqualFold(status, "Unknown") {
		return nil, "expected the status True, False or Unknown after condition=" + name + ", but found " + strconv.Quote(status)
	}
	return func(o *lw.Object) bool {
		for condition := range o.Get("status.conditions").Elements() {
			if strings.EqualFold(condition.Get("type").String(), name) {
				return strings.EqualFold(condition.Get("status").String(), status)
			}
		}
		return false
	}, ""
}

func isTrue(v lw.Value) bool {
	return v.String() != "" && v.Raw() != "false"
}

// compare returns the order of two numbers or, for other values, of two strings.
func compare(a, b string) int {
	if order, ok := jsonpath.CompareNumbers(a, b); ok {
		return order
	}
	return strings.Compare(a, b)
}
