// Package condition implements the conditions that --until and --where accept, for example status.phase=Running.
package condition

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Grammar describes the syntax of conditions.
const Grammar = `CONDITION
  exists                     at least one object exists
  deleted                    no object exists
  rollout                    all Deployments, StatefulSets and DaemonSets are rolled out
  count OP N [&& TERM]...    the number of objects that match all terms is at least, at most or exactly N
  [any|all|none] TERM [&& TERM]...   any (the default), all or none of the objects match all terms;
                             without objects, only none holds
TERM
  FIELD                      the field is present and is not null, false or ""
  FIELD OP VALUE             OP is = == != < <= > or >=; two numbers are compared as numbers
  condition=TYPE[=STATUS]    status.conditions has TYPE with STATUS True (the default), False or Unknown
FIELD is a path such as status.phase, .data.key or metadata.labels.app\.io/name. With [*], only the first value counts.
VALUE is a string, or a FIELD that begins with a dot, metadata., spec. or status.; quotes make it a string.
`

// Condition is a parsed --until or --where condition; see [Grammar]. A condition with "all" needs at least one
// object. Only "any" and "exists" can hold before the first lists are complete.
type Condition struct {
	over    quantifier                           // which of the objects must match
	terms   []term                               // an object matches if all terms hold for it; empty for one-word conditions
	rollout bool                                 // whether the condition waits for a rollout
	Fields  [][]string                           // paths of the fields that the condition reads; see [jsonpath.Path]
	Plain   bool                                 // whether the condition has only terms, so that --where can test one object
	compare string                               // for countOf: operator between the number of matching objects and Count
	Count   string                               // right operand of compare; a string, because jsonpath.Holds takes strings
	values  map[string]func(*lw.Object) lw.Value // the values that the terms compare, by their names in messages
}

type quantifier uint8

const (
	anyOf quantifier = iota
	allOf
	noneOf
	countOf
)

// complete contains the one-word conditions, which cannot be combined with other terms. "create" and "delete" are the
// words of kubectl wait. "create" is a count, because lwcat raises it to the number of named objects.
var complete = []oneWord{
	{"exists", Condition{}}, {"create", Condition{over: countOf, compare: ">=", Count: "1"}}, {"deleted", Condition{over: noneOf}}, {"delete", Condition{over: noneOf}},
	{"rollout", Condition{over: allOf, rollout: true}},
}

type oneWord struct {
	word string
	Condition
}

// Parse parses a condition.
func Parse(text string) (*Condition, error) {
	rest := strings.TrimSpace(text)
	for _, whole := range complete {
		if whole.word == strings.ToLower(rest) {
			return &whole.Condition, nil
		}
	}
	c := &Condition{Plain: true, values: map[string]func(*lw.Object) lw.Value{}}
	for over, word := range []string{"any ", "all ", "none "} { // in the order of the quantifiers
		if after, found := strings.CutPrefix(rest, word); found {
			c.over, c.Plain, rest = quantifier(over), false, after
			break
		}
	}
	rest = strings.TrimPrefix(rest, "jsonpath=") // kubectl wait requires this prefix
	for more := true; more; {
		parts := termPattern.FindStringSubmatch(rest)
		if parts == nil {
			return nil, fmt.Errorf("condition %q: expected FIELD, FIELD OP VALUE or condition=TYPE, and && between them, but found %q; quote a value with special characters", text, rest)
		}
		if parts[1] == "count" && c.terms == nil && c.Plain { // count must come first, without a quantifier
			if _, err := strconv.Atoi(parts[3]); err != nil {
				return nil, fmt.Errorf("condition %q: expected a number, for example count>=3", text)
			}
			c.over, c.Plain, c.compare, c.Count = countOf, false, parts[2], parts[3]
		} else if t, err := c.parseTerm(parts[1], parts[2], parts[3]); err != nil {
			return nil, fmt.Errorf("condition %q: %w", text, err)
		} else {
			c.terms = append(c.terms, t)
		}
		rest, more = rest[len(parts[0]):], parts[4] != ""
	}
	return c, nil
}

// termPattern matches a term up to the next &&. Its groups are the field, the operator, the value and &&. Unquoted text
// must not contain &, |, a comma or a quote, so that ".a=1 || .b=2" and ".a=1,.b=2" are errors instead of strange values.
// A value must not begin with an operator character or ~, so that >> and =~ are errors. Later characters may be =, for
// example in condition=TYPE=STATUS.
var termPattern = regexp.MustCompile(`(?s)^\s*(` + quoted + `|[^\s=!<>&|,"'{}]+)\s*(?:(==|!=|<=|>=|<|>|=)\s*(` + quoted + `|[^\s=!<>~&|,"'{}][^\s&|,"']*))?\s*(&&|$)`)

// quoted matches a string in quotes, or a path in braces.
const quoted = `"[^"]*"|'[^']*'|\{(?:"[^"]*"|'[^']*'|[^}"'])*\}`

// NeedsAll reports whether the condition depends on every object, so that it cannot be decided from a part of the
// collection.
func (c *Condition) NeedsAll() bool { return c.over != anyOf }

// Matches reports whether an object matches all terms. It ignores quantifiers and rollouts, which [Watcher] evaluates.
func (c *Condition) Matches(o *lw.Object) bool {
	return !slices.ContainsFunc(c.terms, func(t term) bool { return !t(o) })
}

// state describes the values that decide whether an object matches. It omits the values of Secrets.
func (c *Condition) state(o *lw.Object) string {
	if c.rollout {
		step, _ := rollout(o) // Watcher.Put has already returned the error
		return step
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		value := cmp.Or(c.values[name](o).String(), "missing")
		if o.Kind() == "Secret" && value != "missing" {
			value = "different"
		}
		texts = append(texts, name+" is "+value)
	}
	return cmp.Or(strings.Join(texts, ", "), "the object still exists") // for "deleted", which has no terms
}

// term is a condition on one object.
type term func(*lw.Object) bool

func (c *Condition) parseTerm(field, operator, value string) (term, error) {
	if field == "condition" && strings.Trim(operator, "=") == "" && value != "" {
		c.Fields = append(c.Fields, []string{"status", "conditions"})
		return c.conditionTerm(unquote(value))
	}
	left, err := c.parsePath(field)
	if err != nil {
		return nil, err
	}
	if operator == "" {
		return func(o *lw.Object) bool { v := left(o); return v.String() != "" && v.Raw() != "false" }, nil
	}
	literal := unquote(value) // differs from value if it was quoted, and a quoted value is never a field
	right := func(*lw.Object) (string, bool) { return literal, true }
	if literal == value && isField.MatchString(value) {
		path, err := c.parsePath(value)
		if err != nil {
			return nil, err
		}
		right = func(o *lw.Object) (string, bool) { v := path(o); return v.String(), v.Exists() }
	}
	return func(o *lw.Object) bool {
		a := left(o)
		b, exists := right(o)
		if !a.Exists() || !exists {
			return operator == "!="
		}
		return jsonpath.Holds(a.String(), operator, b)
	}, nil
}

// isField matches values that are field paths. A dot before a digit begins a number such as .5.
var isField = regexp.MustCompile(`^(\{?\.[^0-9]|metadata\.|spec\.|status\.)`)

// parsePath returns a function that returns the first value at a path. It accepts kubectl's forms .status.phase and
// {.status.phase}, and also status.phase.
func (c *Condition) parsePath(text string) (func(*lw.Object) lw.Value, error) {
	text = unquote(text)
	if !strings.ContainsAny(text, ".[") {
		return nil, fmt.Errorf("%s is not a field path: write condition=%[1]s for a condition, or .%[1]s for a field at the top level", cmp.Or(text, `""`))
	}
	path, err := jsonpath.ParsePath(text)
	if err != nil {
		return nil, fmt.Errorf("invalid field path: %w", err)
	}
	c.Fields = append(c.Fields, path.Fields)
	c.values[text] = func(o *lw.Object) lw.Value { return path.First(o.Get("")) }
	return c.values[text], nil
}

func unquote(value string) string {
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		return value[1 : len(value)-1]
	}
	return value
}

// conditionTerm parses the part of condition=TYPE[=STATUS] after the first equals sign.
func (c *Condition) conditionTerm(text string) (term, error) {
	name, status, given := strings.Cut(text, "=")
	if !given {
		status = "True"
	}
	if !slices.Contains([]string{"true", "false", "unknown"}, strings.ToLower(status)) {
		return nil, fmt.Errorf("expected the status True, False or Unknown after condition=%s, but found %s", name, strconv.Quote(status))
	}
	find := func(o *lw.Object) lw.Value {
		for condition := range o.Get("status.conditions").Elements() {
			if strings.EqualFold(condition.Get("type").String(), name) {
				return condition.Get("status")
			}
		}
		return lw.Value{}
	}
	c.values["condition "+name] = find
	return func(o *lw.Object) bool { return strings.EqualFold(find(o).String(), status) }, nil
}
