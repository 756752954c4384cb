package cache

import (
	"context"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// podList is the body of a list that is made while it is read, so that it is never whole anywhere.
type podList struct {
	pods []sample.Pod // still to come
	next string       // the bytes before them
	read int          // how many bytes were read
}

func (l *podList) Read(p []byte) (int, error) {
	if l.next == "" {
		return 0, io.EOF
	}
	runtime.Gosched() // as a network's reader does: wasm has one thread, and the collector needs it now and then
	n := copy(p, l.next)
	l.read += n
	if l.next = l.next[n:]; l.next == "" && len(l.pods) > 0 {
		l.next, l.pods = l.pods[0].Item(), l.pods[1:]
		if len(l.pods) > 0 {
			l.next += ","
		} else {
			l.next += listTail
		}
	}
	return n, nil
}

// TestLargeListStreams: reading a list of 100 MB takes less memory than the list has bytes, the store included.
func TestLargeListStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB: run it without -short")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // garbage, which is not the question, must stay small beside the rest
	heap := func() int {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int(stats.HeapAlloc)
	}
	const n = 16_500
	list := &podList{pods: sample.Pods(1, n), next: listHead}
	runtime.GC()
	before, peak, seen := heap(), 0, 0
	reflector := podReflector(t, func(req *lw.Request) io.Reader {
		if req.Watch {
			return strings.NewReader("")
		}
		return list
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for event := range reflector.Changes(ctx) {
		if seen++; seen%100 == 0 {
			peak = max(peak, heap()-before)
		}
		if event.Type == lw.Synced {
			break
		}
	}
	runtime.GC()
	live := heap() - before
	t.Logf("%d Pods in %d bytes: at most %d bytes of heap, %d in the end", n, list.read, peak, live)
	require.Equal(t, n, reflector.Store().Len())
	require.Greater(t, list.read, 100_000_000)
	require.Less(t, peak, list.read)
	require.Less(t, live, list.read*17/20, "managedFields, a third of each Pod, are not kept")
	runtime.KeepAlive(reflector)
}
