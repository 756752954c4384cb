package lw

import (
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestTraceReportsEachStep(t *testing.T) {
	list, events := podList("5", "", "a"), podEvent("ADDED", "b", "6")+`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}`+expiredEvent
	var seen []string
	bytes := 0
	see := func(text string) { seen = append(seen, text) }
	trace := &Trace{
		Open:         func(req *Request) { see("open " + map[bool]string{true: "watch", false: "list"}[req.Watch]) },
		Opened:       func(_ *Request, err error) { see("opened " + strconv.FormatBool(err == nil)) },
		Read:         func(n int) { require.Positive(t, n); bytes += n },
		Frame:        func(t EventType, n int) { see("frame " + t.String() + " " + strconv.Itoa(n)) },
		Page:         func(meta ListMeta) { see("page " + meta.ResourceVersion) },
		Bookmark:     func(version string) { see("bookmark " + version) },
		Synced:       func(version string) { see("synced " + version) },
		WatchStarted: func(version string) { see("live " + version) },
		Interrupted:  func(b *Interruption) { see("interrupted " + strconv.FormatBool(b.Relist)) },
		Stopped:      func() { see("stopped") },
	}
	run := func(trace *Trace) {
		synctest.Test(t, func(t *testing.T) {
			s := &scriptedTransport{answers: []answer{{body: list}, {body: events}, {err: errHang}}}
			ctx := WithTrace(t.Context(), trace)
			for event := range ListAndWatch(ctx, s.client(t, Pods("")), plainLists) {
				if event.Interruption != nil {
					return
				}
			}
		})
	}
	run(trace)
	require.Equal(t, []string{
		"open list", "opened true", "frame ADDED 47", "page 5", "synced 5",
		"open watch", "opened true", "live 5", "frame ADDED 78", "frame BOOKMARK 36", "bookmark 9", "frame ERROR 142",
		"interrupted true", "stopped",
	}, seen)
	require.Equal(t, len(list)+len(events), bytes)
	seen = nil
	list, events = podList("5", ""), podEvent("ADDED", "b", "6")+"{"
	run(trace)
	require.Equal(t, []string{"live 5", "frame ADDED 78", "interrupted false", "stopped"}, seen[6:], "an incomplete event is not reported")
	run(&Trace{}) // unset functions are not called
	run(nil)
}
