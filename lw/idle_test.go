package lw

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// bursts is a transport whose response body returns one string after another.
type bursts struct {
	strings []string
	waits   func(p []byte) // called with Read's buffer before each string, where a real connection would block
	reads   func(p []byte)
	at      int
}

func (b *bursts) Read(p []byte) (int, error) {
	if len(b.strings) == 0 {
		return 0, io.EOF
	}
	if b.at == 0 && b.waits != nil {
		b.waits(p)
	}
	if b.at > 0 && b.reads != nil {
		b.reads(p)
	}
	n := copy(p, b.strings[0][b.at:])
	if b.at += n; b.at == len(b.strings[0]) {
		b.strings, b.at = b.strings[1:], 0
	}
	return n, nil
}

func (b *bursts) Close() error { return nil }

func (b *bursts) Open(context.Context, *Request) (*Response, error) {
	return &Response{ReadCloser: b}, nil
}

func TestIdleStreamHasSmallBuffer(t *testing.T) {
	pod, bookmark := sample.Pods(1, 1)[0].Event("ADDED"), `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}`+"\n"
	large := `{"type":"ADDED","object":{"metadata":{"name":"large"},"data":"` + strings.Repeat("x", 2<<20) + `"}}` + "\n"
	var waited []int
	stream := &bursts{
		strings: []string{bookmark, pod, pod + pod + pod, bookmark, pod[:len(pod)-1], "\n", large, pod, bookmark},
		waits:   func(p []byte) { waited = append(waited, len(p)) },
	}
	s := newScanner(stream, 0, nil)
	events := 0
	for {
		if _, ok := s.event(&Scanned{}); !ok {
			break
		}
		events++
	}
	require.Equal(t, io.EOF, s.Err())
	require.Equal(t, 10, events)
	require.Len(t, waited, 9)
	for i, n := range waited {
		require.LessOrEqual(t, n, 512, "the buffer must be small while the stream waits for string %d", i)
	}
}
