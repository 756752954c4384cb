package condition

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// term is a condition on one object.
type term func(*lw.Object) bool

// operators lists the operators in the order in which parseTerm tries them. Longer operators precede their prefixes.
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
		path, problem := parsePath(text, true)
		return func(o *lw.Object) bool { return isTrue(o.Get(path)) }, problem
	}
	left, right := strings.TrimSpace(text[:at]), text[at:]
	for _, operator := range operators {
		value, found := strings.CutPrefix(right, operator.text)
		if !found {
			continue
		}
		value = strings.TrimSpace(value)
		if left == "condition" && strings.Trim(operator.text, "=") == "" {
			return conditionTerm(value)
		}
		path, problem := parsePath(left, false)
		if problem != "" {
			return nil, problem
		}
		other, problem := parseValue(operator.text, value)
		return func(o *lw.Object) bool {
			a := o.Get(path)
			b, ok := other(o)
			if !a.Exists() || !ok {
				return operator.text == "!="
			}
			return operator.holds(compare(a.String(), b))
		}, problem
	}
	return nil, "expected one of the operators = == != < <= > >= after " + left
}

// parseValue returns a function that returns the value on the right of an operator, and whether the value exists.
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

// parsePath accepts the paths of lw.Value.Get and kubectl's forms .status.phase and {.status.phase}. alone must be true
// if no operator follows the path.
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

// compare returns the order of a and b. It compares integers exactly, other numbers as floats, and all other values
// as strings.
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
