package table

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// byteTransport serves a body that yields one byte per Read.
type byteTransport struct{ text string }

func (c byteTransport) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(iotest.OneByteReader(strings.NewReader(c.text)))}, nil
}

// FuzzTables checks that the result does not depend on how the response is split into reads. A Table must become a list
// that contains its objects with their cells, and other responses must pass through unchanged.
func FuzzTables(f *testing.F) {
	list := `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},` + columns + `,"rows":[{"cells":["a",1],"object":{"kind":"Pod","metadata":{"name":"a"}}},{"object":{"metadata":{"name":"b"}},"cells":[]}]}`
	f.Add(list, false)
	f.Add(`{"apiVersion":"v1","kind":"PodList","items":[]} x`, false)
	f.Add(`{"kind":"Table","rows":null,"rows":[{"cells":null,"object":{}},{"object":"x"}]}`, false)
	f.Add(`{"type":"ADDED","object":`+list+"}\n"+`{"type":"BOOKMARK","object":{"kind":"Table","rows":[{"cells":[],"object":{"metadata":{"resourceVersion":"9"}}}]}}`, true)
	f.Add(`{"type":"ERROR","object":{"kind":"Status","code":410}}`, true)
	f.Fuzz(func(t *testing.T, text string, watch bool) {
		req := &lw.Request{Path: "/p", Watch: watch}
		tables := New(&recordingTransport{text: text})
		whole, err := read(t, tables, req)
		again := New(byteTransport{text})
		single, singleErr := read(t, again, req)
		require.Equal(t, whole, single)
		require.Equal(t, err, singleErr)
		require.Equal(t, tables.Columns(), again.Columns())
		if !watch && err == nil {
			requireList(t, text, whole)
		}
	})
}

// requireList requires that the list in `got` contains the objects that encoding/json reads from the Table in `text`. If
// the two are equal, it passes, because two responses remain unchanged: a response that is not a Table, and the response
// to the second request after an empty Table.
func requireList(t *testing.T, text, got string) {
	if text == got {
		return
	}
	type object = map[string]any
	var table struct{ Rows []struct{ Cells, Object any } }
	if json.Unmarshal([]byte(text), &table) != nil || strings.Contains(text, member) {
		return
	}
	for _, name := range []string{"rows", "cells", "object"} {
		if strings.Count(text, name) != strings.Count(strings.ToLower(text), name) { // encoding/json ignores the case of names
			return
		}
	}
	if strings.Count(text, "rows") != 1 {
		return
	}
	var want, list struct{ Items []object }
	for _, row := range table.Rows {
		o, ok := row.Object.(object)
		if !ok || len(o) == 0 {
			return // the decoder rejects this response
		}
		if o[member] = row.Cells; row.Cells == nil {
			return // null is equivalent to a missing value
		}
		want.Items = append(want.Items, o)
	}
	require.NoError(t, json.NewDecoder(strings.NewReader(got)).Decode(&list), got)
	require.Equal(t, len(want.Items), len(list.Items))
	for i, o := range want.Items {
		require.Equal(t, o, list.Items[i])
	}
}
