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
		Open:   func(req *Request) { see("open " + map[bool]string{true: "watch", false: "list"}[req.Watch]) },
		Opened: func(_ *Request, err error) { see("opened " + strconv.FormatBool(err == nil)) },
		Read:   func(n int) { require.Positive(t, n); bytes += n },
		Frame:  func(t EventType, n int) { see("frame " + t.String() + " " + strconv.Itoa(n)) },
		Page:   func(meta ListMeta) { see("page " + meta.ResourceVersion) },
		Event: func(event Event[Keyed]) {
			text := event.Type.String() + " " + event.ResourceVersion
			if event.Object != nil {
				text += " " + event.Object.GetName()
			}
			if event.Type == Interrupted {
				text += " " + strconv.FormatBool(event.Interruption.Relist)
			}
			see(text)
		},
		Stopped: func() { see("stopped") },
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
		"open list", "opened true", "frame ADDED 47", "LIST_STARTED ", "ADDED  a", "page 5", "SYNCED 5",
		"open watch", "opened true", "WATCH_STARTED 5", "frame ADDED 78", "ADDED 6 b", "frame BOOKMARK 36", "BOOKMARK 9", "frame ERROR 142",
		"INTERRUPTED 9 true", "stopped",
	}, seen)
	require.Equal(t, len(list)+len(events), bytes)
	seen = nil
	list, events = podList("5", ""), podEvent("ADDED", "b", "6")+"{"
	run(trace)
	require.Equal(t, []string{"WATCH_STARTED 5", "frame ADDED 78", "ADDED 6 b", "INTERRUPTED 6 false", "stopped"}, seen[7:], "an incomplete event must not be reported")
	run(&Trace{}) // a Trace may leave functions unset
	run(nil)
}
