package table

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// recordingTransport returns fixed response bodies and records the latest request.
type recordingTransport struct {
	text string
	next string // response to later requests, or "" for text
	err  error
	req  *lw.Request
}

func (a *recordingTransport) Open(_ context.Context, req *lw.Request) (*lw.Response, error) {
	if a.req != nil && a.next != "" {
		a.text = a.next
	}
	a.req = req
	return &lw.Response{ReadCloser: io.NopCloser(io.MultiReader(strings.NewReader(a.text), failingTransport{a.err}))}, nil
}

type failingTransport struct{ err error }

func (f failingTransport) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

func read(t *testing.T, tables *Transport, req *lw.Request) (string, error) {
	t.Helper()
	body, err := tables.Open(t.Context(), req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(body)
	require.NoError(t, body.Close())
	return string(text), err
}

const columns = `"columnDefinitions":[{"name":"Name"},{"name":"Ready","priority":1}]`

func TestListsOfTables(t *testing.T) {
	a := &recordingTransport{text: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7","continue":"x"},` + columns + `,
		"rows":[{"cells":["a",1],"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}},{"cells":["b","<\u003e"],"object":{"kind":"Pod","metadata":{"name":"b"}}}]}`}
	tables := New(a)
	text, err := read(t, tables, &lw.Request{Path: "/p", Query: "limit=500", Accept: "application/json;drop=metadata.managedFields"})
	require.NoError(t, err)
	require.Equal(t, `{"metadata":{"resourceVersion":"7","continue":"x"},"items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"lwcat.cells":["a",1]},`+
		`{"kind":"Pod","metadata":{"name":"b"},"lwcat.cells":["b","<\u003e"]}],"kind":"PodList","apiVersion":"v1"}`+"\n", text)
	require.Equal(t, []Column{{Name: "Name"}, {Name: "Ready", Wide: true}}, tables.Columns())
	require.Equal(t, &lw.Request{Path: "/p", Query: "limit=500&includeObject=Object",
		Accept: "application/json;as=Table;v=v1;g=meta.k8s.io;drop=metadata.managedFields,application/json;drop=metadata.managedFields"}, a.req)
}

// An empty Table could belong to another resource, so the transport requests a list that names its kind.
func TestEmptyTableIsReplacedByList(t *testing.T) {
	const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"8"},"items":[]}`
	req := &lw.Request{Path: "/p", Query: "limit=500", Accept: "application/json"}
	for _, rows := range []string{``, `,"rows":[]`, `,"rows":null`, `,"rows":[],"rows":null`, `,"rows":{}`} {
		a := &recordingTransport{text: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},` + columns + rows + `}`, next: list}
		text, err := read(t, New(a), req)
		require.NoError(t, err)
		require.Equal(t, list, text)
		require.Equal(t, req, a.req)
	}
}

func TestWatchesOfTables(t *testing.T) {
	const status = `{"type":"ERROR","object":{"kind":"Status","code":410}}` + "\n"
	broken := errors.New("broken")
	a := &recordingTransport{err: broken, text: `{"type":"ADDED","object":{"kind":"Table",` + columns + `,"rows":[{"cells":["a"],"object":{"metadata":{"name":"a"}}}]}}
		{"type":"BOOKMARK","object":{"kind":"Table","columnDefinitions":null,"rows":[{"cells":[""],"object":{"metadata":{"resourceVersion":"9"}}}]}}` + "\n\n" + status}
	tables := New(a)
	text, err := read(t, tables, &lw.Request{Watch: true})
	require.ErrorIs(t, err, broken)
	require.Equal(t, `{"type":"ADDED","object":{"metadata":{"name":"a"},"lwcat.cells":["a"]}}`+"\n"+
		`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"},"lwcat.cells":[""]}}`+"\n"+status, text)
	require.Equal(t, []Column{{Name: "Name"}, {Name: "Ready", Wide: true}}, tables.Columns(), "null column definitions must not change the columns")
}

func TestOtherResponsesAreUnchanged(t *testing.T) {
	for _, text := range []string{`{"kind":"PodList","items":[]}`, `{"kind":"Status"}`, `[]`, `"x"`, `<html>`, ``, ` `, `{"metadata":{},"kind":"Table"}`, `{"kind":7}`} {
		got, err := read(t, New(&recordingTransport{text: text}), &lw.Request{})
		require.NoError(t, err)
		require.Equal(t, text, got)
	}
	for _, text := range []string{`{"type":"ADDED","object":{"kind":"Pod"}}`, `[1]`} {
		got, err := read(t, New(&recordingTransport{text: text}), &lw.Request{Watch: true})
		require.NoError(t, err)
		require.Equal(t, text+"\n", got)
	}
	_, err := read(t, New(&recordingTransport{text: "<html>"}), &lw.Request{Watch: true})
	require.ErrorIs(t, err, lw.ErrInvalidResponse)
	require.EqualError(t, err, "the response is not valid: expected a Table")
}

// TestMalformedTables checks that a malformed Table causes the same kind of error as a malformed list.
func TestMalformedTables(t *testing.T) {
	table := `{"kind":"Table","metadata":{},"rows":[{"cells":[1],"object":{"a":1}},{"cells":[1]}]}`
	for cut := range len(table) {
		_, err := read(t, New(&recordingTransport{text: table[:cut]}), &lw.Request{})
		if cut >= len(`{"kind":"Table"`) {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, table[:cut])
		} else {
			require.NoError(t, err, "the transport must return the response unchanged")
		}
	}
	for _, wrong := range []string{`"rows":[7x]`, `"rows":[{"cells":}]`, `x`, `"columnDefinitions":]`} {
		_, err := read(t, New(&recordingTransport{text: `{"kind":"Table",` + wrong + `}`}), &lw.Request{})
		require.ErrorIs(t, err, lw.ErrInvalidResponse, wrong)
	}
}

// TestTableMemoryLimit checks that large Tables and watch events are rejected.
func TestTableMemoryLimit(t *testing.T) {
	const row = `{"cells":["a"],"object":{"metadata":{"name":"a"}}}`
	const limit = 1 << 20
	tooLarge := lw.ErrTooLarge
	for name, c := range map[string]struct {
		first, then string
		watch       bool
		most        int64 // maximum number of buffered bytes
		want        error
	}{
		"endless rows":                   {first: `{"kind":"Table","rows":[` + row, then: "," + row, most: 4 << 20, want: tooLarge},
		"endless metadata":               {first: `{"kind":"Table","metadata":{"a":"`, then: "x", most: 4 << 20, want: tooLarge},
		"endless columns":                {first: `{"kind":"Table","columnDefinitions":[{}`, then: ",{}", most: 4 << 20, want: tooLarge},
		"endless kind":                   {first: `{"kind":"`, then: "x", most: 4 << 20},
		"list that is not a Table":       {first: `{"kind":"PodList","items":[`, then: `{},`, most: 4 << 20, want: memory.ErrEnough},
		"endless white space":            {first: " ", then: " ", most: 4 << 20},
		"endless row":                    {first: `{"kind":"Table","rows":[{"cells":["`, then: "x", most: 4 * limit, want: tooLarge},
		"endless watch event":            {first: `{"type":"`, then: "x", watch: true, most: 4 * limit, want: tooLarge},
		"endless white space in a watch": {first: " ", then: " ", watch: true, most: 4 * limit, want: tooLarge},
		"a million tiny events":          {then: `{"type":"ADDED","object":{}}` + "\n", watch: true, most: 1 << 20, want: memory.ErrEnough},
		"a million Tables in a row":      {then: `{"kind":"Table"}`, most: 4 << 20, want: tooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			heap := memory.NewHeap()
			endless := &memory.Endless{First: c.first, Then: c.then, Most: 5 << 20, Heap: heap}
			tables := New(bodyTransport{endless})
			tables.limit = limit
			body, err := tables.Open(t.Context(), &lw.Request{Watch: c.watch})
			if err == nil {
				defer body.Close()
				_, err = io.Copy(io.Discard, body)
			}
			if c.want == nil {
				c.want = memory.ErrEnough
			}
			require.Equal(t, c.want, err)
			require.Less(t, heap.Grown(), c.most)
		})
	}
}

type bodyTransport struct{ body io.ReadCloser }

func (b bodyTransport) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: b.body}, nil
}

func TestCells(t *testing.T) {
	o, err := lw.ParseObject([]byte(`{"metadata":{"name":"a"},"lwcat.cells":["a",9007199254740993]}`))
	require.NoError(t, err)
	require.Equal(t, `["a",9007199254740993]`, Cells(o).Raw())
}
