package informers

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

// server is an API server of a process of its own, which does as little as it can: every watch has a namespace, whose Pods
// are rendered before they are sent. Nothing happens until there is an order. A resource version is the time at which it
// was sent, in nanoseconds, so that who receives it knows how long it took.
type server struct {
	mu       sync.Mutex
	turn     *turn // that comes next
	counters counters
}

// counters counts open watches, and the connections of the transport that is measured.
type counters struct{ Watches, Dialed, Open, OpenAtMax int }

// order is what every watch is to send.
type order struct {
	Pods   int           // of every namespace; each is added first, and deleted last
	Events int           // of every watch, at least two for a Pod
	Every  time.Duration // between two events of one watch; zero: as fast as possible
}

// turn is an order that is to come. Every watch waits for ready.
type turn struct {
	order
	ready chan struct{}
	next  *turn
}

// address is where a server is found, as one line on its standard output.
type address struct {
	URL     string
	Control string // takes orders, without the transport that is measured
	CA      string // PEM
}

// serve runs until standard input ends, which it does with the process that started this one.
func serve(transport string) {
	s := &server{turn: &turn{ready: make(chan struct{})}}
	api := httptest.NewUnstartedServer(http.HandlerFunc(s.serveAPI))
	api.Config.ConnState = s.count
	api.Config.ErrorLog = log.New(io.Discard, "", 0) // clients abort the handshakes of connections that they do not need
	found := address{}
	if transport == HTTP2 {
		api.EnableHTTP2 = true
		api.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100} // as a kube-apiserver
		api.StartTLS()
		found.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	} else {
		api.Start()
	}
	found.URL, found.Control = api.URL, httptest.NewServer(http.HandlerFunc(s.takeOrder)).URL
	measure.Say(found)
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func (s *server) count(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c := &s.counters; state {
	case http.StateNew:
		c.Dialed++
		c.Open++
		c.OpenAtMax = max(c.OpenAtMax, c.Open)
	case http.StateClosed, http.StateHijacked:
		c.Open--
	}
}

func (s *server) countWatch(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters.Watches += change
}

// takeOrder takes an order, or returns the counters for a GET.
func (s *server) takeOrder(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s.counters)
		return
	}
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Events < 2*o.Pods {
		http.Error(w, "not an order", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.turn
	now.order, now.next = o, &turn{ready: make(chan struct{})}
	s.turn = now.next
	close(now.ready)
}

func (s *server) serveAPI(w http.ResponseWriter, r *http.Request) {
	namespace := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/pods")
	if r.URL.Query().Get("watch") == "" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[]}`, time.Now().UnixNano())
		return
	}
	s.mu.Lock()
	next := s.turn
	s.mu.Unlock()
	out := newOutput(w, r)
	out.send(bookmark(r.URL.Query().Get("sendInitialEvents") == "true"))
	s.countWatch(1)
	defer s.countWatch(-1)
	everyMinute := time.NewTicker(time.Minute)
	defer everyMinute.Stop()
	for out.err == nil {
		select {
		case <-next.ready:
			out.carryOut(next.order, namespace)
			next = next.next
		case <-everyMinute.C:
			out.send(bookmark(false))
		case <-r.Context().Done():
			return
		}
	}
}

// output is where a watch's frames go: the body of a response, or messages of a WebSocket.
type output struct {
	write    func([]byte) error
	messages bool
	err      error
	version  int64 // the last one
}

func newOutput(w http.ResponseWriter, r *http.Request) *output {
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Content-Type", "application/json")
		return &output{write: func(frames []byte) error {
			if _, err := w.Write(frames); err != nil {
				return err
			}
			return http.NewResponseController(w).Flush()
		}}
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	measure.Must(err)
	go func() { // answers pings
		for err := error(nil); err == nil; {
			_, _, err = conn.NextReader()
		}
	}()
	return &output{messages: true, write: func(frames []byte) error {
		_, err := conn.NetConn().Write(frames)
		return err
	}}
}

// carryOut sends what was ordered, several events with one write if they are in a hurry.
func (o *output) carryOut(ordered order, namespace string) {
	atOnce := 8
	if ordered.Every > 0 {
		atOnce = 1
	}
	pods, began := podsOf(namespace, ordered.Pods), time.Now()
	var frames []byte
	for i := 0; i < ordered.Events && o.err == nil; {
		time.Sleep(time.Until(began.Add(time.Duration(i) * ordered.Every)))
		for frames = frames[:0]; len(frames) == 0 || i%atOnce != 0 && i < ordered.Events; i++ {
			kind := "MODIFIED"
			switch {
			case i < ordered.Pods:
				kind = "ADDED"
			case i >= ordered.Events-ordered.Pods:
				kind = "DELETED"
			}
			frames = o.appendFrame(frames, kind, pods[i%ordered.Pods])
		}
		o.err = o.write(frames)
	}
}

// pod is an object's text before its resource version, and behind it.
type pod struct{ before, behind string }

func podsOf(namespace string, n int) []pod {
	pods := make([]pod, n)
	for i, made := range sample.Pods(1, n) {
		made.Namespace = namespace
		text, version := made.JSON(), strconv.FormatUint(made.ResourceVersion, 10)
		at := strings.Index(text, `"resourceVersion":"`+version) + len(`"resourceVersion":"`)
		pods[i] = pod{text[:at], text[at+len(version):]}
	}
	return pods
}

func (o *output) appendFrame(to []byte, kind string, p pod) []byte {
	const digits = 19
	size := len(`{"type":"","object":}`) + len(kind) + len(p.before) + digits + len(p.behind) + 1
	if o.messages { // a TEXT message, whole, of 126 bytes to 64 kB (RFC 6455, section 5.2)
		to = append(to, 0x81, 126, byte(size>>8), byte(size))
	}
	o.version = max(o.version+1, time.Now().UnixNano())
	to = append(append(append(to, `{"type":"`...), kind...), `","object":`...)
	to = strconv.AppendInt(append(to, p.before...), o.version, 10)
	return append(append(to, p.behind...), "}\n"...)
}

func bookmark(endOfState bool) pod {
	annotation := ""
	if endOfState {
		annotation = `,"annotations":{"k8s.io/initial-events-end":"true"}`
	}
	return pod{`{"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":null,"resourceVersion":"`,
		`"` + annotation + `},"spec":{"containers":null},"status":{}}`}
}

func (o *output) send(bookmark pod) { o.err = o.write(o.appendFrame(nil, "BOOKMARK", bookmark)) }
