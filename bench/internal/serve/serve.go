// Package serve provides an API server for benchmarks. The server sends encoded Pods from memory, so that it uses
// little CPU time during a measurement. It sends events only when a benchmark orders them.
package serve

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"errors"
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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// First is the resourceVersion of the first list. It is greater than the resourceVersion of every sample Pod, and event n
// has resourceVersion First+n. So a client can tell from a resourceVersion how many events it has received.
const First = 1 << 40

// Seed seeds the generator of the sample Pods, so that every run sends the same Pods.
const Seed = 1

// Config describes a server and its Pods. The server ignores the path of a request and responds as for /api/v1/pods. On
// every watch, the resourceVersions of the events start at the same value, even if the server has sent events to other
// watches before.
type Config struct {
	Pods      int  // number of listed Pods
	PerApp    int  // if positive, the number of Pods with the same label "app"
	Templates int  // if positive, the number of templates from which the Pods are encoded on the fly, to save memory
	Streaming bool // whether to serve streaming lists; otherwise, they are rejected
	Protobuf  bool // whether to serve protobuf, too
	Changed   int  // number of different Pods in JSON events; the events contain these Pods in turn
	Batch     int  // number of events that are written together; if zero, each event is written separately
	HTTP2     bool // whether to use TLS and HTTP/2 with at most 100 streams per connection, the limit of kube-apiserver
}

// Address contains a server's URLs and certificate authority.
type Address struct {
	URL     string
	Control string // URL for orders and counters, served over plain HTTP
	CA      string // certificate authority in PEM
}

// Order makes every open watch send this number of events, without a pause between them.
func (a Address) Order(events int) {
	response := harness.MustGet(http.Post(fmt.Sprintf("%s/order?period=0s&events=%d", a.Control, events), "", nil))
	harness.Must(response.Body.Close())
}

// Counters counts the open watches and the connections.
type Counters struct{ Watches, Dialed, Open, MaxOpen int }

// Server serves Pods and watches.
type Server struct {
	Config
	lists   map[string][]byte // list responses by media type
	initial []byte            // initial events of a streaming list; nil if the events are encoded on the fly
	events  [][2]string       // MODIFIED events in JSON, split where each event's resourceVersion is inserted
	typed   []corev1.Pod      // the Pods of protobuf events

	mu       sync.Mutex
	counters Counters
	ordered  int64         // number of ordered events
	order    chan struct{} // closed and replaced when events are ordered
}

// Start starts a server that runs until the process exits.
func Start(c Config) Address {
	s := New(c)
	api := httptest.NewUnstartedServer(s)
	api.Config.ConnState = s.countConnection
	api.Config.ErrorLog = log.New(io.Discard, "", 0) // discards TLS handshake errors, which occur when clients abandon connections that they no longer need
	found := Address{}
	if c.HTTP2 {
		api.EnableHTTP2 = true
		api.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100}
		api.StartTLS()
		found.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	} else {
		api.Start()
	}
	control := http.NewServeMux()
	control.HandleFunc("GET /", s.serveCounters)
	control.HandleFunc("POST /order", s.ServeOrder)
	found.URL, found.Control = api.URL, httptest.NewServer(control).URL
	return found
}

// New returns a server. It is an http.Handler for the API, and [Server.ServeOrder] handles orders.
func New(c Config) *Server {
	s := &Server{Config: c, order: make(chan struct{})}
	for _, pod := range sample.Pods(Seed, c.Changed) {
		before, after, _ := strings.Cut(pod.Event("MODIFIED"), fmt.Sprintf(`"resourceVersion":"%d"`, pod.ResourceVersion))
		s.events = append(s.events, [2]string{before + `"resourceVersion":"`, `"` + after})
	}
	if c.Templates == 0 {
		pods := sample.Pods(Seed, c.Pods)
		for i := range pods {
			if c.PerApp > 0 {
				pods[i].App = fmt.Sprint("app-", i/c.PerApp)
			}
		}
		s.lists = map[string][]byte{runtime.ContentTypeJSON: List(pods)}
		for _, pod := range pods {
			s.initial = append(s.initial, pod.Event("ADDED")...)
		}
	}
	if c.Protobuf {
		var list corev1.PodList
		harness.Must(json.Unmarshal(s.lists[runtime.ContentTypeJSON], &list))
		s.typed, s.lists[runtime.ContentTypeProtobuf] = list.Items, Protobuf(&list)
	}
	return s
}

// List returns the JSON response to a list request.
func List(pods []sample.Pod) []byte {
	list := fmt.Appendf(nil, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[`, First)
	for i, pod := range pods {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, pod.Item()...)
	}
	return append(list, "]}\n"...)
}

func (s *Server) countConnection(_ net.Conn, state http.ConnState) {
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

func (s *Server) serveCounters(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(s.counters)
}

// ServeOrder makes every watch send events. The query parameter events is the number of events, and period is the time
// between two events. ServeOrder first waits until a watch is open.
func (s *Server) ServeOrder(w http.ResponseWriter, r *http.Request) {
	events, badEvents := strconv.Atoi(r.FormValue("events"))
	period, badPeriod := time.ParseDuration(r.FormValue("period"))
	if badEvents != nil || badPeriod != nil {
		http.Error(w, fmt.Sprintf("invalid query %q: expected a number of events and a period such as 10ms", r.URL.RawQuery), http.StatusBadRequest)
		return
	}
	// A client can sync before its watch is open, and would then miss the events.
	harness.Until(func() bool { return s.give(0) > 0 })
	if period == 0 {
		s.give(events)
		return
	}
	go func() {
		began := time.Now()
		for i := range events {
			time.Sleep(time.Until(began.Add(time.Duration(i) * period))) // a late event does not delay the later ones
			s.give(1)
		}
	}()
}

// give orders events for all open watches and returns the number of these watches.
func (s *Server) give(events int) (watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ordered += int64(events)
	close(s.order)
	s.order = make(chan struct{})
	return s.counters.Watches
}

// orders returns the number of events ordered so far and a channel that is closed by the next order.
func (s *Server) orders() (int64, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ordered, s.order
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query, mediaType := r.URL.Query(), runtime.ContentTypeJSON
	if s.Protobuf && strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		mediaType = runtime.ContentTypeProtobuf
	}
	w.Header().Set("Content-Type", mediaType)
	switch {
	case query.Has("sendInitialEvents") && !s.Streaming:
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,`+
			`"message":"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"}`)
	case query.Has("watch"):
		s.watch(w, r, mediaType)
	default:
		w.Header().Set("Content-Length", strconv.Itoa(len(s.lists[mediaType])))
		_, _ = w.Write(s.lists[mediaType])
	}
}

// watch sends the events that are ordered while the watch is open. The watch numbers its events from 1, regardless of
// events that were ordered before.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, mediaType string) {
	before, _ := s.orders() // before countWatch, because ServeOrder waits for the count
	s.countWatch(1)
	defer s.countWatch(-1)
	if mediaType == runtime.ContentTypeProtobuf {
		w.Header().Set("Content-Type", mediaType+";stream=watch")
	}
	out := newOutput(w, r, s.Batch)
	if r.FormValue("sendInitialEvents") == "true" {
		s.sendInitial(out)
	}
	for n := int64(0); out.flush() == nil; { // the first flush sends at least the header, for which clients wait
		ordered, order := s.orders()
		for ; n < ordered-before; n++ {
			out.send(s.event(n+1, mediaType))
		}
		if out.flush() != nil {
			return
		}
		select {
		case <-order:
		case <-r.Context().Done():
			return
		}
	}
}

func (s *Server) countWatch(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters.Watches += change
}

// sendInitial sends the events of a streaming list.
func (s *Server) sendInitial(out *output) {
	out.send(s.initial)
	if s.Templates > 0 {
		source := sample.NewSource(Seed, s.Templates)
		for i := range s.Pods {
			pod := source.Pod(i)
			pod.ResourceVersion = uint64(i + 1)
			out.send([]byte(pod.Event("ADDED")))
		}
	}
	out.send(fmt.Appendf(nil, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%d",`+
		`"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", First))
}

// event encodes event n of a watch, where n starts at 1.
func (s *Server) event(n int64, mediaType string) []byte {
	if mediaType == runtime.ContentTypeProtobuf {
		pod := s.typed[(n-1)%int64(len(s.typed))]
		pod.ResourceVersion = strconv.FormatInt(First+n, 10)
		return ProtobufEvent(&pod)
	}
	parts := s.events[(n-1)%int64(len(s.events))]
	return fmt.Appendf(nil, "%s%d%s", parts[0], First+n, parts[1])
}

// output writes a watch's events to a response body or to a WebSocket. After an error, it discards all events.
type output struct {
	*bufio.Writer
	batch, pending int          // number of events that are written together, and number of events in the buffer
	messages       bool         // whether each event needs a WebSocket header
	flushBody      func() error // flushes net/http's own buffer
}

// newOutput returns an output for the client's protocol. On a WebSocket, it writes to the connection below the WebSocket
// library, because the library would write each message separately instead of in batches.
func newOutput(w http.ResponseWriter, r *http.Request, batch int) *output {
	if r.Header.Get("Upgrade") == "" {
		return &output{Writer: bufio.NewWriterSize(w, 64<<10), batch: batch, flushBody: http.NewResponseController(w).Flush}
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn := harness.MustGet(upgrader.Upgrade(w, r, nil))
	go func() { // responds to pings, which the library does only while it reads
		for err := error(nil); err == nil; {
			_, _, err = conn.NextReader()
		}
	}()
	return &output{Writer: bufio.NewWriterSize(conn.NetConn(), 64<<10), batch: batch, messages: true, flushBody: func() error { return nil }}
}

// send adds an event to the buffer. When the buffer contains a batch, send writes it to the connection.
func (o *output) send(event []byte) {
	// A frame starts with the header from section 5.2 of RFC 6455. This form is valid only for 126 to 65,535 bytes, so a
	// WebSocket cannot carry the initial events of a large list.
	if size := len(event); o.messages && size > 0 {
		_, _ = o.Write([]byte{0x81, 126, byte(size >> 8), byte(size)})
	}
	_, _ = o.Write(event) // Flush returns the error
	if o.pending++; o.pending >= o.batch {
		_ = o.Flush()
		o.pending = 0
	}
}

// flush sends all events to the client.
func (o *output) flush() error {
	o.pending = 0
	return errors.Join(o.Flush(), o.flushBody())
}

// Isolated disables caching, unless h sets Cache-Control, and makes pages cross-origin isolated. Browsers require
// isolated pages for precise timers and memory measurements.
func Isolated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}
