package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// server is a minimal API server with one namespace for each watch. A watch sends events only after an order.
type server struct {
	orders *serve.Orders[order]
	first  *serve.Order[order]

	mu       sync.Mutex
	counters counters
}

// counters counts the open watches and the connections. MaxOpen is the maximum of Open.
type counters struct{ Watches, Dialed, Open, MaxOpen int }

// order describes the events that each watch sends.
type order struct {
	Pods   int // Pods per namespace; the first events add them and the last events delete them
	Events int // events per watch, at least two per Pod

	given int64 // time at which the server received the order, in nanoseconds since 1970
}

// address contains the URLs and the certificate authority of a server.
type address struct {
	URL     string
	Control string // URL for orders and counters, over plain HTTP
	CA      string // certificate authority in PEM
}

func startServer(transport string) address {
	s := &server{orders: serve.NewOrders[order]()}
	s.first = s.orders.Next()
	api := httptest.NewUnstartedServer(http.HandlerFunc(s.serveAPI))
	api.Config.ConnState = s.countConnection
	api.Config.ErrorLog = log.New(io.Discard, "", 0) // discards errors of TLS handshakes that clients abort because they no longer need the connection
	found := address{}
	if transport == overHTTP2 {
		api.EnableHTTP2 = true
		api.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100} // the limit of a kube-apiserver
		api.StartTLS()
		found.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	} else {
		api.Start()
	}
	found.URL, found.Control = api.URL, httptest.NewServer(http.HandlerFunc(s.serveControl)).URL
	return found
}

func (s *server) countConnection(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c := &s.counters; state {
	case http.StateNew:
		c.Dialed++
		c.Open++
		c.MaxOpen = max(c.MaxOpen, c.Open)
	case http.StateClosed, http.StateHijacked:
		c.Open--
	}
}

func (s *server) countWatch(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters.Watches += change
}

// serveControl responds to GET with the counters and accepts an order by POST.
func (s *server) serveControl(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s.counters)
		return
	}
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Events < 2*o.Pods {
		http.Error(w, "the request body must be JSON with at least two events per Pod", http.StatusBadRequest)
		return
	}
	o.given = time.Now().UnixNano()
	s.orders.Give(o)
}

// ordersAfter returns the first order after resourceVersion, which is the time of an event in nanoseconds. A watch that
// resumes therefore misses no orders.
func (s *server) ordersAfter(resourceVersion string) *serve.Order[order] {
	version, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil { // a streaming list has no resourceVersion and starts with the next order
		return s.orders.Next()
	}
	for next := s.first; ; next = next.Next {
		select {
		case <-next.Given:
			if next.Value.given > version {
				return next
			}
		default:
			return next
		}
	}
}

func (s *server) serveAPI(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[]}`, time.Now().UnixNano())
		return
	}
	namespace := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/pods")
	next, out := s.ordersAfter(r.URL.Query().Get("resourceVersion")), newOutput(w, r)
	out.sendBookmark(r.URL.Query().Get("sendInitialEvents") == "true")
	s.countWatch(1)
	defer s.countWatch(-1)
	everyMinute := time.NewTicker(time.Minute)
	defer everyMinute.Stop()
	for out.err == nil {
		select {
		case <-next.Given:
			out.carryOut(next.Value, namespace)
			next = next.Next
		case <-everyMinute.C:
			out.sendBookmark(false)
		case <-r.Context().Done():
			return
		}
	}
}

// output writes the events of a watch to a response body or to a WebSocket.
type output struct {
	write    func([]byte) error
	messages bool // true for a WebSocket, whose events need a frame header
	err      error
	version  int64 // resourceVersion of the latest event, which is its time in nanoseconds since 1970
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
	go func() { // responds to pings
		for err := error(nil); err == nil; {
			_, _, err = conn.NextReader()
		}
	}()
	return &output{messages: true, write: func(messages []byte) error {
		_, err := conn.NetConn().Write(messages)
		return err
	}}
}

// carryOut sends the events of an order as fast as possible, in writes of up to eight events.
func (o *output) carryOut(ordered order, namespace string) {
	const atOnce = 8
	pods := podsOf(namespace, ordered.Pods)
	var events []byte
	for i := 0; i < ordered.Events && o.err == nil; {
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
	if o.messages { // header of a text frame with 126 to 65,535 bytes; see section 5.2 of RFC 6455
		to = append(to, 0x81, 126, byte(size>>8), byte(size))
	}
	o.version = max(o.version+1, time.Now().UnixNano())
	to = append(append(append(to, `{"type":"`...), kind...), `","object":`...)
	return append(object.Append(to, o.version), "}\n"...)
}

// sendBookmark sends a bookmark, or the initial-events-end bookmark if endOfList is true.
func (o *output) sendBookmark(endOfList bool) {
	annotation := ""
	if endOfList {
		annotation = `,"annotations":{"k8s.io/initial-events-end":"true"}`
	}
	object := `{"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":null,"resourceVersion":"0"` +
		annotation + `},"spec":{"containers":null},"status":{}}`
	o.err = o.write(o.appendEvent(nil, "BOOKMARK", serve.NewTemplate(object, "0")))
}
