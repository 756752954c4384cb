package output

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

func object(t *testing.T, text string) *lw.Object {
	t.Helper()
	o, err := lw.ParseObject([]byte(text))
	require.NoError(t, err)
	return o
}

func added(t *testing.T, resource, text string) *Event {
	return &Event{Type: lw.Added, Time: noon, Resource: resource, Object: object(t, text)}
}

func modified(t *testing.T, resource, old, text string) *Event {
	return &Event{Type: lw.Modified, Time: noon, Resource: resource, Object: object(t, text), Old: object(t, old)}
}

func deleted(t *testing.T, resource, text string) *Event {
	return &Event{Type: lw.Deleted, Time: noon, Resource: resource, Object: object(t, text)}
}

// printed returns a format's output for one batch of events.
func printed(t *testing.T, spec string, opts *Options, events ...*Event) string {
	t.Helper()
	format, err := New(spec, opts)
	require.NoError(t, err)
	return printedBy(t, format, events...)
}

func printedBy(t *testing.T, format Format, events ...*Event) string {
	t.Helper()
	var text strings.Builder
	out := bufio.NewWriter(&text)
	for _, e := range events {
		format.Print(out, e)
	}
	format.Flush(out)
	require.NoError(t, out.Flush())
	return text.String()
}

const (
	web0     = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop","resourceVersion":"7","generation":9007199254740993},"spec":{"nodeName":"n1","containers":[{"name":"a","image":"x:1"},{"name":"b","image":"y:2"}]},"status":{"phase":"Pending"}}`
	web0Runs = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop","resourceVersion":"8","generation":9007199254740993},"spec":{"nodeName":"n1","containers":[{"name":"a","image":"x:1"},{"name":"b","image":"y:2"}]},"status":{"phase":"Running"}}`
	webster  = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"webster-with-a-long-name","namespace":"shop","resourceVersion":"9"}}`
)

func TestJSONL(t *testing.T) {
	const head = `{"type":"MODIFIED","time":"2026-11-21T12:00:00.123456789Z","resource":"pods","key":"shop/web-0","resourceVersion":"8","object":`
	require.Equal(t, head+web0Runs+"}\n", printed(t, "jsonl", &Options{}, modified(t, "pods", web0, web0Runs)))
	require.Equal(t, head+web0Runs+`,"old":`+web0+"}\n", printed(t, "jsonl", &Options{Old: true}, modified(t, "pods", web0, web0Runs)))
	require.NotContains(t, printed(t, "jsonl", &Options{Old: true}, added(t, "pods", web0)), `"old"`)
}

func TestJSON(t *testing.T) {
	require.Equal(t, web0+"\n", printed(t, "json", &Options{}, added(t, "pods", web0)))
	require.Equal(t, `{"type":"ADDED","object":`+web0+"}\n", printed(t, "json", &Options{Types: true}, added(t, "pods", web0)))
	require.Equal(t, `{"type":"MODIFIED","object":`+web0Runs+`,"old":`+web0+"}\n", printed(t, "json", &Options{Types: true, Old: true}, modified(t, "pods", web0, web0Runs)))
}

// Readers expect one line per event, even if the server indents its lists.
func TestJSONStaysOnOneLine(t *testing.T) {
	const indented = "{\r\n  \"kind\": \"Pod\",\n  \"metadata\": {\"name\": \"a\\nb\"}\n}"
	for _, spec := range []string{"jsonl", "json"} {
		for _, opts := range []*Options{{Old: true}, {Old: true, Types: true}, {Old: true, Terminal: true}} {
			all := printed(t, spec, opts, added(t, "pods", indented), modified(t, "pods", indented, indented))
			require.Equal(t, 2, strings.Count(all, "\n"), "format %s: %q", spec, all)
			require.NotContains(t, all, "\r")
			for line := range strings.Lines(all) {
				require.True(t, json.Valid([]byte(line)), line)
			}
		}
	}
}

func TestName(t *testing.T) {
	events := []*Event{added(t, "pods", web0), deleted(t, "deployments.apps", webster)}
	require.Equal(t, "pod/web-0\ndeployment.apps/webster-with-a-long-name\n", printed(t, "name", &Options{}, events...))
	require.Equal(t, "ADDED    pod/web-0\nDELETED  deployment.apps/webster-with-a-long-name\n", printed(t, "name", &Options{Types: true}, events...))
}

func TestCustomColumns(t *testing.T) {
	const spec = `custom-columns=NAME:.metadata.name,IMAGES:spec.containers[*].image,A:.spec.containers[?(@.name=="a")].image,PHASE:{.status.phase},G:.metadata.generation`
	const want = "" +
		"NAME                       IMAGES    A        PHASE     G\n" +
		"web-0                      x:1,y:2   x:1      Pending   9007199254740993\n" +
		"webster-with-a-long-name   <none>    <none>   <none>    <none>\n"
	require.Equal(t, want, printed(t, spec, &Options{}, added(t, "pods", web0), added(t, "pods", webster)))
	require.Equal(t, "EVENT      N\nADDED      web-0\nDELETED    web-0\n", printed(t, "custom-columns=N:metadata.name", &Options{Types: true}, added(t, "pods", web0), deleted(t, "pods", web0)))
	require.Equal(t, "web-0\n", printed(t, "custom-columns=N:metadata.name", &Options{NoHeaders: true}, added(t, "pods", web0)))
}

func cells(t *testing.T, text string) lw.Value {
	value, err := lw.ParseValue([]byte(text))
	require.NoError(t, err)
	return value
}

func TestWide(t *testing.T) {
	pod := added(t, "pods", web0)
	pod.Columns, pod.Cells = []table.Column{{Name: "Name"}, {Name: "Ready"}, {Name: "Nominated Node", Wide: true}}, cells(t, `["web-0",null,"x"]`)
	short := deleted(t, "pods", web0)
	short.Columns, short.Cells = pod.Columns, cells(t, `["web-0"]`)
	require.Equal(t, "EVENT      NAMESPACE   NAME    READY   NOMINATED NODE\nADDED      shop        web-0           x\nDELETED    shop        web-0\n",
		printed(t, "wide", &Options{Namespaces: true, Wide: true}, pod, short))
	require.Equal(t, "EVENT      RESOURCE   NAME    AGE\nADDED      pods       web-0\n", printed(t, "wide", &Options{Resources: true}, added(t, "pods", web0)))
	require.Equal(t, "EVENT      NAME    AGE\nADDED      web-0\n", printed(t, "wide", &Options{}, added(t, "pods", web0)), "if the server sends no columns, the table must have the columns NAME and AGE")
	require.Equal(t, "NAME    READY\nweb-0\n", printed(t, "table", &Options{Once: true}, pod), "the table omits wide columns, and the event type of a list")
}

func TestLabelColumns(t *testing.T) {
	labeled := `{"kind":"Pod","metadata":{"name":"web-0","labels":{"tier":"front","example.com/app":"web"}}}`
	require.Equal(t, "NAME    AGE   APP   X   LABELS\nweb-0         web       example.com/app=web,tier=front\nweb-0                   <none>\n",
		printed(t, "table", &Options{Once: true, Labels: true, LabelColumns: []string{"example.com/app", "x"}}, added(t, "pods", labeled), added(t, "pods", web0)))
}

// TestWidthsNeverShrink checks that columns with the same headers share their widths, which never shrink.
func TestWidthsNeverShrink(t *testing.T) {
	format, err := New("custom-columns=NAME:metadata.name,V:metadata.resourceVersion", &Options{})
	require.NoError(t, err)
	require.Equal(t, "NAME    V\nweb-0   7\n", printedBy(t, format, added(t, "pods", web0)))
	require.Equal(t, "webster-with-a-long-name   9\n", printedBy(t, format, added(t, "pods", webster)))
	require.Equal(t, "web-0                      7\n", printedBy(t, format, added(t, "pods", web0)))
	require.Equal(t, "web-0                      7\n", printedBy(t, format, added(t, "jobs", web0)))
}

func TestCellsAreEscaped(t *testing.T) {
	const evil = `{"metadata":{"name":"x","annotations":{"a":"\u001b[2Jb\nc"}}}`
	require.Equal(t, "A\n�[2Jb c\n", printed(t, "custom-columns=A:.metadata.annotations.a", &Options{}, added(t, "pods", evil)))
}

func TestJSONPath(t *testing.T) {
	require.Equal(t, "web-0\n", printed(t, "jsonpath={.metadata.name}", &Options{}, added(t, "pods", web0)))
	require.Equal(t, "web-0=1\n", printed(t, `jsonpath={.metadata.name}{"=1\n"}`, &Options{}, added(t, "pods", web0)))
	require.Equal(t, "ADDED web-0\n", printed(t, `jsonpath={.type} {.object.metadata.name}`, &Options{Types: true}, added(t, "pods", web0)))
	require.Equal(t, "Pending to Running\n", printed(t, `jsonpath={.old.status.phase} to {.object.status.phase}`, &Options{Types: true, Old: true}, modified(t, "pods", web0, web0Runs)))
	require.Empty(t, printed(t, `jsonpath={range .status.conditions[*]}{.type}{end}`, &Options{}, added(t, "pods", web0)))
}

func TestInvalidFormats(t *testing.T) {
	for spec, want := range map[string]string{
		"x":                             `unknown output format "x"; the formats are jsonl, json, line, table, wide`,
		"jsonl=x":                       `output format jsonl takes no argument, but got "x"`,
		"jsonl-file=x":                  `unknown output format "jsonl-file"`,
		"jsonpath":                      "output format jsonpath needs an argument: jsonpath=TEMPLATE",
		"jsonpath={.a":                  "output format jsonpath: in \"{.a\", at byte 3: expected }",
		"go-template={{.a}}":            `unknown output format "go-template"; the formats are jsonl,`,
		"custom-columns=":               "output format custom-columns needs an argument: custom-columns=HEADER:PATH,...",
		"custom-columns=,":              "expected at least one column",
		"custom-columns=A":              `expected a column such as NAME:.metadata.name, not "A"`,
		"custom-columns=A:.b[":          "expected an index",
		"custom-columns=A:.a,:metadata": `expected a column such as NAME:.metadata.name, not ":metadata"`,
	} {
		_, err := New(spec, &Options{})
		require.ErrorContains(t, err, want, spec)
	}
}
