// Package condition implements the conditions of --until, for example status.phase=Running.
package condition

import (
	"fmt"
	"slices"
	"strings"

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

// Condition is a parsed condition of --until; see [Grammar]. A condition with "all" needs at least one object. Only
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
	switch rest {
	case "exists":
		return c, nil
	case "deleted":
		c.over = noneOf
		return c, nil
	case "rollout":
		c.over, c.rollout = allOf, true
		return c, nil
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

// splitTerms splits a string at && outside quotes. It rejects other operators between terms.
// NeedsAll reports whether the condition depends on every object, so that a part of the collection cannot meet it.
func (c *Condition) NeedsAll() bool { return c.over != anyOf }

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

// complete contains the conditions that consist of one word and cannot be part of another condition.
var complete = []string{"exists", "deleted", "rollout"}

// correct returns an explanation if word is used as a field path but is probably a mistake. Otherwise it returns "".
func correct(word string, alone bool) (problem string) {
	if lower := strings.ToLower(word); slices.Contains(complete, lower) {
		if word != lower {
			return word + " is not a field: did you mean " + lower + "?"
		}
		return word + " is not a field: " + lower + " cannot be part of a longer condition; use a separate --until for it"
	}
	meant := corrections[strings.ToLower(word)]
	if near := nearest.Likely(strings.ToLower(word), complete); alone && meant == "" && len(near) > 0 && len(word) > 3 {
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
	for _, term := range c.terms {
		if !term(o) {
			return false
		}
	}
	return true
}
