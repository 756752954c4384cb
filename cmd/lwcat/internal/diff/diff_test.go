package diff

import (
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func value(t *testing.T, text string) lw.Value {
	t.Helper()
	v, err := lw.ParseValue([]byte(text))
	require.NoError(t, err, text)
	return v
}

// describe formats changes as lines.
func describe(changes []Change) string {
	var lines []string
	for _, c := range changes {
		line := c.Path.String() + ": " + c.Old.Raw() + " -> " + c.New.Raw()
		if c.Reorder {
			line = "order of " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"equal values", `{"a":1,"b":[{"c":null}]}`, `{ "b" : [{"c":null}], "a":1 }`, ``},
		{"changed value", `{"a":{"b":"x"}}`, `{"a":{"b":"y"}}`, `a.b: "x" -> "y"`},
		{"changed type", `{"a":1}`, `{"a":"1"}`, `a: 1 -> "1"`},
		{"changed large number", `{"a":9007199254740992}`, `{"a":9007199254740993}`, `a: 9007199254740992 -> 9007199254740993`},
		{"removed null", `{"a":null}`, `{}`, `a: null -> `},
		{"added and removed fields", `{"a":1,"b":2}`, `{"b":2,"c":{"d":3}}`, "c:  -> {\"d\":3}\na: 1 -> "},
		{"dots in names", `{"a":{"x.io/y":"1"}}`, `{"a":{"x.io/y":"2"}}`, `a.x\.io/y: "1" -> "2"`},
		{"different escapes", `{"a":"\u0041/"}`, `{"a":"A\/"}`, ``},
		{"elements matched by name", `{"c":[{"name":"a","i":1},{"name":"b","i":2}]}`, `{"c":[{"name":"b","i":3},{"name":"c","i":2}]}`,
			"c[b].i: 2 -> 3\nc[c]:  -> {\"name\":\"c\",\"i\":2}\nc[a]: {\"name\":\"a\",\"i\":1} -> "},
		{"conditions matched by type", `{"c":[{"type":"Ready","s":"False"},{"type":"Init","s":"True"}]}`, `{"c":[{"type":"Init","s":"True"},{"type":"Ready","s":"True"}]}`,
			"c[Ready].s: \"False\" -> \"True\"\norder of c: [\"Ready\",\"Init\"] -> [\"Init\",\"Ready\"]"},
		{"duplicate names", `[{"name":"a","x":1},{"name":"a","x":2}]`, `[{"name":"a","x":1},{"name":"a","x":3}]`, `[1].x: 2 -> 3`},
		{"first element of an empty array", `{"c":[]}`, `{"c":[{"name":"a"}]}`, `c[a]:  -> {"name":"a"}`},
		{"element removed from the middle", `["a","b","c"]`, `["a","c"]`, `[1]: "b" -> `},
		{"element added in the middle", `["a","c"]`, `["a","b","c"]`, `[1]:  -> "b"`},
		{"element added at the end", `["a"]`, `["a","b"]`, `[1]:  -> "b"`},
		{"several changed elements", `["a","b","c","d"]`, `["a","x","d"]`, "[1]: \"b\" -> \"x\"\n[2]: \"c\" -> "},
		{"array instead of an object", `{"a":{}}`, `{"a":[]}`, `a: {} -> []`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, describe(Compare(value(t, c.old), value(t, c.new), Filter{})))
		})
	}
}

func TestFilter(t *testing.T) {
	const old = `{"metadata":{"resourceVersion":"1","annotations":{"x.io/a":"1","b":"1"}},"spec":{"n":1},"status":{"conditions":[{"type":"Ready","t":1,"s":1}]}}`
	const new = `{"metadata":{"resourceVersion":"2","annotations":{"x.io/a":"2","b":"2"},"managedFields":[]},"spec":{"n":2},"status":{"conditions":[{"type":"Ready","t":2,"s":2}]}}`
	for _, c := range []struct{ ignore, want string }{
		{"metadata spec", "status.conditions[Ready].t: 1 -> 2\nstatus.conditions[Ready].s: 1 -> 2"},
		{"metadata .spec status.conditions[*].t", "status.conditions[Ready].s: 1 -> 2"},
		{"metadata spec.n status.conditions[Ready].t", "status.conditions[Ready].s: 1 -> 2"},
		{`metadata.resourceVersion metadata.managedFields metadata.annotations.x\.io/a spec status`, `metadata.annotations.b: "1" -> "2"`},
		{"metadata spec status.conditions[*].t", "status.conditions[Ready].s: 1 -> 2"},
		{"metadat meta.data metadata status spec.n.m", "spec.n: 1 -> 2"},
	} {
		filter, err := NewFilter(nil, strings.Fields(c.ignore))
		require.NoError(t, err)
		require.Equal(t, c.want, describe(Compare(value(t, old), value(t, new), filter)), c.ignore)
	}
	filter, err := NewFilter(nil, []string{"metadata.annotations.b"})
	require.NoError(t, err)
	require.Equal(t, `metadata.annotations.c:  -> "2"`, describe(Compare(value(t, `{"metadata":{}}`), value(t, `{"metadata":{"annotations":{"b":"1","c":"2"}}}`), filter)), "the filter must also apply within a new object")
	filter, err = NewFilter(nil, []string{"spec[*].x"})
	require.NoError(t, err)
	require.NotEmpty(t, Compare(value(t, `{"spec":{"":1}}`), value(t, `{"spec":{"":2}}`), filter), "a member may have an empty name")
	for _, text := range []string{"", "a..b", "a.", "a[", "a[].b", `a\`} {
		_, err := NewFilter(nil, []string{text})
		require.ErrorContains(t, err, "is not a path such as status.conditions[*].message")
	}
}
