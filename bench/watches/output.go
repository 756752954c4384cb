package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// output sends the events of a watch in the body of a response or in WebSocket messages.
type output struct {
	write    func([]byte) error
	messages bool // over WebSocket
	err      error
	version  int64 // the last resourceVersion: the time at which the event was sent, in nanoseconds
}

func newOutput(w http.ResponseWriter, r *http.Request) *output {
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Content-Type", "application/json")
		return &output{write: func(events []byte) error {
			if _, err := w.Write(events); err != nil {
				return err
			}
			return http.NewResponseController(w).Flush()
		}}
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn := harness.MustGet(upgrader.Upgrade(w, r, nil))
	go func() { // answers pings
		for err := error(nil); err == nil; {
			_, _, err = conn.NextReader()
		}
	}()
	return &output{messages: true, write: func(messages []byte) error {
		_, err := conn.NetConn().Write(messages)
		return err
	}}
}

// carryOut sends the events of an order. Without a delay between events it sends up to eight with one write.
func (o *output) carryOut(ordered order, namespace string) {
	atOnce := 8
	if ordered.Every > 0 {
		atOnce = 1
	}
	pods, began := podsOf(namespace, ordered.Pods), time.Now()
	var events []byte
	for i := 0; i < ordered.Events && o.err == nil; {
		time.Sleep(time.Until(began.Add(time.Duration(i) * ordered.Every)))
		for events = events[:0]; len(events) == 0 || i%atOnce != 0 && i < ordered.Events; i++ {
			kind := "MODIFIED"
			switch {
			case i < ordered.Pods:
				kind = "ADDED"
			case i >= ordered.Events-ordered.Pods:
				kind = "DELETED"
			}
			events = o.appendEvent(events, kind, pods[i%ordered.Pods])
		}
		o.err = o.write(events)
	}
}

func podsOf(namespace string, n int) []serve.Template {
	pods := make([]serve.Template, n)
	for i, pod := range sample.Pods(1, n) {
		pod.Namespace = namespace
		pods[i] = serve.NewTemplate(pod.JSON(), strconv.FormatUint(pod.ResourceVersion, 10))
	}
	return pods
}

func (o *output) appendEvent(to []byte, kind string, object serve.Template) []byte {
	const digits = 19
	size := len(`{"type":"","object":}`) + len(kind) + object.Size() + digits + 1
	if o.messages { // the header of an unfragmented text message of 126 bytes to 64 kB, see section 5.2 of RFC 6455
		to = append(to, 0x81, 126, byte(size>>8), byte(size))
	}
	o.version = max(o.version+1, time.Now().UnixNano())
	to = append(append(append(to, `{"type":"`...), kind...), `","object":`...)
	return append(object.Append(to, o.version), "}\n"...)
}

// sendBookmark sends a bookmark, with the mark of the end of the initial events if endOfList is true.
func (o *output) sendBookmark(endOfList bool) {
	annotation := ""
	if endOfList {
		annotation = `,"annotations":{"k8s.io/initial-events-end":"true"}`
	}
	object := `{"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":null,"resourceVersion":"0"` +
		annotation + `},"spec":{"containers":null},"status":{}}`
	o.err = o.write(o.appendEvent(nil, "BOOKMARK", serve.NewTemplate(object, "0")))
}
