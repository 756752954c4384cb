package table

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// answers is a transport that answers with a text, and notes what it was asked.
type answers struct {
	text string
	err  error
	req  *lw.Request
}

func (a *answers) Open(_ context.Context, req *lw.Request) (io.ReadCloser, error) {
	a.req = req
	return io.NopCloser(io.MultiReader(strings.NewReader(a.text), failing{a.err})), nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

func read(t *testing.T, tables *Transport, req *lw.Request) (string, error) {
	t.Helper()
	body, err := tables.Open(t.Context(), req)
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, body.Close())
	return string(text), err
}

const columns = `"columnDefinitions":[{"name":"Name"},{"name":"Ready"}]`

func TestListsOfTables(t *testing.T) {
	a := &answers{text: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7","continue":"x"},` + columns + `,
		"rows":[{"cells":["a",1],"object":{"kind":"Pod","metadata":{"name":"a"}}},{"cells":["b","<\u003e"],"object":{"kind":"Pod","metadata":{"name":"b"}}}]}`}
	tables := New(a, false)
	text, err := read(t, tables, &lw.Request{Path: "/p", Query: "limit=500", Accept: "application/json;drop=metadata.managedFields"})
	require.NoError(t, err)
	require.Equal(t, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x"},"items":[`+
		`{"kind":"Pod","metadata":{"name":"a"},"lwcat.cells":["a",1]},{"kind":"Pod","metadata":{"name":"b"},"lwcat.cells":["b","<\u003e"]}]}`+"\n", text)
	require.Equal(t, []string{"Name", "Ready"}, tables.Columns())
	require.Equal(t, &lw.Request{Path: "/p", Query: "limit=500&includeObject=Object",
		Accept: "application/json;as=Table;v=v1;g=meta.k8s.io;drop=metadata.managedFields,application/json;drop=metadata.managedFields"}, a.req)
}

func TestMetadataOnly(t *testing.T) {
	a := &answers{text: "{}"}
	_, err := read(t, New(a, true), &lw.Request{})
	require.NoError(t, err)
	require.Equal(t, "includeObject=Metadata", a.req.Query)
}

func TestWatchesOfTables(t *testing.T) {
	const status = `{"type":"ERROR","object":{"kind":"Status","code":410}}` + "\n"
	broken := errors.New("broken")
	a := &answers{err: broken, text: `{"type":"ADDED","object":{"kind":"Table",` + columns + `,"rows":[{"cells":["a"],"object":{"metadata":{"name":"a"}}}]}}
		{"type":"BOOKMARK","object":{"kind":"Table","columnDefinitions":null,"rows":[{"cells":[""],"object":{"metadata":{"resourceVersion":"9"}}}]}}` + status}
	tables := New(a, false)
	text, err := read(t, tables, &lw.Request{Watch: true})
	require.ErrorIs(t, err, broken)
	require.Equal(t, `{"type":"ADDED","object":{"metadata":{"name":"a"},"lwcat.cells":["a"]}}`+"\n"+
		`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"},"lwcat.cells":[""]}}`+"\n"+status, text)
	require.Equal(t, []string{"Name", "Ready"}, tables.Columns(), "null leaves them")
}

// TestWhatIsNoTablePasses: not every server makes one of every resource, and what is garbage is told by who reads it.
func TestWhatIsNoTablePasses(t *testing.T) {
	for _, text := range []string{`{"kind":"PodList","items":[]}`, `{"kind":"Status"}`, `[]`, `"x"`} {
		got, err := read(t, New(&answers{text: text}, true), &lw.Request{})
		require.NoError(t, err)
		require.Equal(t, text, got)
	}
	for _, text := range []string{`{"type":"ADDED","object":{"kind":"Pod"}}`, `[1]`} {
		got, err := read(t, New(&answers{text: text}, true), &lw.Request{Watch: true})
		require.NoError(t, err)
		require.Equal(t, text+"\n", got)
	}
	_, err := read(t, New(&answers{text: "<html>"}, true), &lw.Request{})
	require.ErrorContains(t, err, "invalid character '<'")
	_, err = read(t, New(&answers{text: `{"kind":"Table","rows":[`}, true), &lw.Request{})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestCells(t *testing.T) {
	o, err := lw.ParseObject([]byte(`{"metadata":{"name":"a"},"lwcat.cells":["a",9007199254740993]}`))
	require.NoError(t, err)
	require.Equal(t, lw.Value(`["a",9007199254740993]`), Cells(o))
}
