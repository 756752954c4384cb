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

// podList is the body of a list. It generates its Pods when they are read, so it never holds the whole list.
type podList struct {
	pods []sample.Pod // Pods that are not yet generated
	next string       // bytes to return before the next Pod
	read int          // number of bytes read
}

func (l *podList) Read(p []byte) (int, error) {
	if l.next == "" {
		return 0, io.EOF
	}
	runtime.Gosched() // yields like a network reader would, because WASM has only one thread
	n := copy(p, l.next)
	l.read += n
	l.next = l.next[n:]
	if l.next == "" && len(l.pods) > 0 {
		l.next, l.pods = l.pods[0].Item(), l.pods[1:]
		if len(l.pods) > 0 {
			l.next += ","
		} else {
			l.next += listTail
		}
	}
	return n, nil
}

// Reading a list of 100 MB must use less heap memory than its size, even with the store.
func TestLargeListStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB; run without -short")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // collect garbage often, so that the heap size shows the live memory
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
		seen++
		if seen%100 == 0 {
			peak = max(peak, heap()-before)
		}
		if event.Type == lw.Synced {
			break
		}
	}
	runtime.GC()
	live := heap() - before
	t.Logf("%d Pods in %d bytes: peak heap %d bytes, final heap %d bytes", n, list.read, peak, live)
	require.Equal(t, n, reflector.Store().Len())
	require.Greater(t, list.read, 100_000_000)
	require.Less(t, peak, list.read)
	require.Less(t, live, list.read*17/20, "managedFields, a third of each Pod, must not be stored")
	runtime.KeepAlive(reflector)
}
