package condition

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// FuzzParse checks that Parse returns a condition or an error. For a single object, "none" must be the
// opposite of "any". Terms joined with && must hold if and only if each term holds.
func FuzzParse(f *testing.F) {
	const pod = `{"metadata":{"name":"a","labels":{"a.b/c":"x"}},"status":{"phase":"Running","n":10,"conditions":[{"type":"Ready","status":"True"}]}}`
	f.Add("status.phase=Running", "condition=Ready", pod)
	f.Add("jsonpath='{.status.n}' >= 9.5", `metadata.labels.a\.b/c != x`, pod)
	f.Add("status.conditions[*].type == \"Ready\"", "exists", pod)
	f.Add("deleted", "all .a && .b", `{"a":1,"b":null}`)
	f.Add("none .a!", "any  any", `{"a":{}}`)
	f.Fuzz(func(t *testing.T, first, second, text string) {
		o, err := lw.ParseObject([]byte(text))
		if err != nil {
			return
		}
		one, ok := holds(t, first, o)
		other, otherOK := holds(t, second, o)
		if !ok || !otherOK || quantified(first) || quantified(second) {
			return
		}
		both, ok := holds(t, first+" && "+second, o)
		require.True(t, ok)
		require.Equal(t, one && other, both)
		for over, want := range map[string]bool{"any ": one, "all ": one, "none ": !one} {
			got, ok := holds(t, over+first, o)
			require.True(t, ok)
			require.Equal(t, want, got, over)
		}
	})
}

// quantified reports whether text must stand alone because it cannot be a term in a longer condition.
func quantified(text string) bool {
	text = strings.TrimSpace(text)
	for _, word := range []string{"any ", "all ", "none ", "jsonpath="} {
		if strings.HasPrefix(text, word) {
			return true
		}
	}
	return slices.ContainsFunc(complete, func(c oneWord) bool { return c.word == strings.ToLower(text) })
}

// holds reports whether a condition is valid, and whether it holds for a collection with one object.
func holds(t *testing.T, text string, o *lw.Object) (holds, ok bool) {
	c, err := Parse(text)
	if err != nil {
		require.ErrorContains(t, err, "condition ")
		return false, false
	}
	w := Watch([]*Condition{c}, 1)
	if w.Put("0", o) != nil { // an object of another kind has no rollout
		return false, false
	}
	w.Complete()
	return w.Holds(), true
}

// FuzzCompare checks that exactly one of less, equal and greater holds for an existing field, and that != is the
// opposite of =.
func FuzzCompare(f *testing.F) {
	for _, pair := range [][2]string{{"10", "9.5"}, {"9223372036854775807", "9223372036854775806"}, {`"NaN"`, "1"}, {`"a"`, "b"}, {"null", "x"}, {`"0x1p4"`, "16"}, {"1e999", "1e998"}, {"[1]", "{}"}, {`""`, "0&&00.0"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, field, value string) {
		o, err := lw.ParseObject([]byte(`{"f":` + field + `}`))
		if err != nil || o.Get("f").Raw() != strings.TrimSpace(field) || !isText(value) {
			return
		}
		is := func(operator string) bool {
			held, ok := holds(t, ".f "+operator+value, o)
			require.True(t, ok)
			return held
		}
		less, equal, greater := is("< "), is("= "), is("> ")
		require.True(t, less && !equal && !greater || !less && equal && !greater || !less && !equal && greater)
		require.Equal(t, equal, is("== "))
		require.Equal(t, !equal, is("!= "))
		require.Equal(t, less || equal, is("<= "))
		require.Equal(t, greater || equal, is(">= "))
	})
}

// isText reports whether value is valid as a literal: it is not a field path, and no other condition follows it.
func isText(value string) bool {
	_, err := Parse(".f = " + value)
	return err == nil && !strings.Contains(value, "&&") && !isField.MatchString(strings.TrimSpace(value))
}
