package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/hostile"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

type textTransport string

func (t textTransport) Open(context.Context, *lw.Request) (io.ReadCloser, error) {
	return io.NopCloser(iotest.OneByteReader(strings.NewReader(string(t)))), nil
}

// TestFramesAreSplit checks the split for any separator and for truncated bodies.
func TestFramesAreSplit(t *testing.T) {
	const text = `{"a":"}\"]\\"}` + "\n" + `{"b":[{}]}{"c":1}` + " \r\n[2]\n{\"d"
	var seen []string
	transport := &frameTransport{transport: textTransport(text), show: func(frame []byte) { seen = append(seen, string(frame)) }}
	body, err := transport.Open(t.Context(), &lw.Request{Watch: true})
	require.NoError(t, err)
	read, err := io.ReadAll(body)
	require.NoError(t, err)
	require.Equal(t, text, string(read))
	require.Equal(t, []string{`{"a":"}\"]\\"}`, `{"b":[{}]}`, `{"c":1}`, `[2]`, `{"d`}, seen)

	body, err = transport.Open(t.Context(), &lw.Request{})
	require.NoError(t, err)
	_, err = io.ReadAll(body)
	require.NoError(t, err)
	require.Len(t, seen, 5, "a list is not a watch event")
}

// TestWhitespaceIsSkipped checks that whitespace between events uses no memory.
func TestWhitespaceIsSkipped(t *testing.T) {
	heap := hostile.NewHeap()
	shown := 0
	body := &frameReader{
		ReadCloser: &hostile.Endless{First: "{} ", Then: "\n", Most: 8 << 20, Heap: heap},
		show:       func([]byte) { shown++ },
	}
	_, err := io.Copy(io.Discard, body)
	require.Equal(t, hostile.ErrEnough, err)
	require.Equal(t, 1, shown)
	require.Less(t, heap.Grown(), int64(1<<20))
}
