// Package serve is the API server that the benchmarks use. It serves Pods from memory, and sends events only when a
// benchmark orders them, so that it uses little CPU time during a measurement.
package serve

import (
	"bufio"
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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// First is the resourceVersion of the first list. The Pods have lower resourceVersions, and event n has First+n.
const First = 1 << 40

// Seed seeds the generator of the sample Pods.
const Seed = 1

// Config describes the Pods that a server serves. The path /api/v1/pods lists all Pods. Every client that watches
// this path receives the same resourceVersions, even if the server has sent other events before. The list for a
// single namespace is empty, and the first events in that namespace add its Pods.
type Config struct {
	Pods      int  // number of listed Pods
	PerApp    int  // if positive, exactly this many Pods have the same label "app"
	Templates int  // if positive, the Pods derive from this many templates and are encoded on the fly
	Streaming bool // serves streaming lists of all Pods; they are otherwise rejected
	Protobuf  bool // serves all Pods as JSON and as protobuf; otherwise only as JSON
	Changed   int  // number of Pods that change, one after another
	Batch     int  // number of events that are written together
	HTTP2     bool // uses TLS and HTTP/2 with at most 100 streams per connection, the limit of a kube-apiserver
}

// Address contains a server's URLs and certificate authority.
type Address struct {
	URL     string
	Control string // URL for orders and counters, served over plain HTTP
	CA      string // certificate authority in PEM
}

// Counters counts the open watches and the connections.
type Counters struct{ Watches, Dialed, Open, MaxOpen int }

// Server serves Pods and watches.
type Server struct {
	Config
	lists   map[string][]byte // list responses by media type
	initial []byte            // initial events of a streaming list, unless they are encoded on the fly
	changed []sample.Pod
	events  []template // MODIFIED events for the Pods that change
	typed   []corev1.Pod

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
	s := &Server{Config: c, order: make(chan struct{}), changed: sample.Pods(Seed, c.Changed)}
	for _, pod := range s.changed {
		s.events = append(s.events, newTemplate(pod.Event("MODIFIED"), pod))
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

// ServeOrder orders events for every watch. The query parameter events is their number, and period is the time
// between two events. ServeOrder first waits until a watch is open.
func (s *Server) ServeOrder(w http.ResponseWriter, r *http.Request) {
	events, badEvents := strconv.Atoi(r.FormValue("events"))
	period, badPeriod := time.ParseDuration(r.FormValue("period"))
	if badEvents != nil || badPeriod != nil {
		http.Error(w, fmt.Sprintf("invalid query %q: expected a number of events and a period such as 10ms", r.URL.RawQuery), http.StatusBadRequest)
		return
	}
	for ; s.give(0) == 0; time.Sleep(time.Millisecond) {
	}
	if period == 0 {
		s.give(events)
		return
	}
	go func() {
		began := time.Now()
		for i := range events {
			time.Sleep(time.Until(began.Add(time.Duration(i) * period)))
			s.give(1)
		}
	}()
}

// give orders events and returns the number of open watches.
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
	namespace := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "pods")
	namespace = strings.TrimSuffix(strings.TrimPrefix(namespace, "namespaces/"), "/")
	query, mediaType := r.URL.Query(), runtime.ContentTypeJSON
	if s.Protobuf && strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		mediaType = runtime.ContentTypeProtobuf
	}
	w.Header().Set("Content-Type", mediaType)
	switch {
	case query.Has("sendInitialEvents") && !s.Streaming && namespace == "":
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,`+
			`"message":"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"}`)
	case query.Has("watch"):
		s.watch(w, r, namespace, mediaType)
	case namespace != "":
		ordered, _ := s.orders()
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[]}`, First+ordered)
	default:
		w.Header().Set("Content-Length", strconv.Itoa(len(s.lists[mediaType])))
		_, _ = w.Write(s.lists[mediaType])
	}
}

// watch sends the ordered events until the client closes the watch.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, namespace, mediaType string) {
	s.countWatch(1)
	defer s.countWatch(-1)
	streaming := r.FormValue("sendInitialEvents") == "true"
	begin, _ := s.orders()
	if version, err := strconv.ParseInt(r.FormValue("resourceVersion"), 10, 64); err == nil && version >= First && namespace != "" {
		begin = version - First // a resumed watch misses no events
	}
	if mediaType == runtime.ContentTypeProtobuf {
		w.Header().Set("Content-Type", mediaType+";stream=watch")
	}
	out := newOutput(w, r, s.Batch)
	encode := s.encoder(namespace, mediaType)
	n := int64(0) // number of the last event that this watch has sent
	if namespace != "" {
		n, begin = begin, 0
	}
	if streaming && namespace == "" {
		s.sendInitial(out)
	}
	if streaming || namespace != "" {
		out.send(bookmark(First+n, streaming))
	}
	for out.err == nil {
		out.flush()
		ordered, order := s.orders()
		for ordered > begin+n && out.err == nil {
			n++
			out.send(encode(n))
		}
		out.flush()
		select {
		case <-order:
		case <-r.Context().Done():
			return
		case <-time.After(time.Minute):
			if mediaType == runtime.ContentTypeJSON {
				out.send(bookmark(First+n, false))
			}
		}
	}
}

func (s *Server) countWatch(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters.Watches += change
}

// sendInitial sends the initial events of a streaming list.
func (s *Server) sendInitial(out *output) {
	if s.Templates == 0 {
		out.send(s.initial)
		return
	}
	source := sample.NewSource(Seed, s.Templates)
	for i := range s.Pods {
		pod := source.Pod(i)
		pod.ResourceVersion = uint64(i + 1)
		out.send([]byte(pod.Event("ADDED")))
	}
}

// encoder returns a function that encodes event n. The returned bytes are valid until the next call.
func (s *Server) encoder(namespace, mediaType string) func(n int64) []byte {
	if mediaType == runtime.ContentTypeProtobuf {
		return func(n int64) []byte {
			pod := s.typed[n%int64(len(s.typed))]
			pod.ResourceVersion = strconv.FormatInt(First+n, 10)
			return ProtobufEvent(&pod)
		}
	}
	events, added := s.events, int64(0)
	if namespace != "" {
		added, events = int64(len(s.changed)), make([]template, 2*len(s.changed))
		for i, pod := range s.changed {
			pod.Namespace = namespace
			events[i], events[len(s.changed)+i] = newTemplate(pod.Event("ADDED"), pod), newTemplate(pod.Event("MODIFIED"), pod)
		}
	}
	var event []byte
	return func(n int64) []byte {
		i := (n - 1) % int64(len(s.changed))
		if n > added {
			i += added
		}
		event = events[i].append(event[:0], First+n)
		return event
	}
}

// template is a JSON text in which only the resourceVersion varies.
type template struct{ before, after string }

func newTemplate(text string, pod sample.Pod) template {
	before, after, _ := strings.Cut(text, fmt.Sprintf(`"resourceVersion":"%d"`, pod.ResourceVersion))
	return template{before + `"resourceVersion":"`, `"` + after}
}

func (t template) append(to []byte, version int64) []byte {
	return append(strconv.AppendInt(append(to, t.before...), version, 10), t.after...)
}

// bookmark returns a bookmark, or the initial-events-end bookmark if endOfList is true.
func bookmark(version int64, endOfList bool) []byte {
	annotation := ""
	if endOfList {
		annotation = `,"annotations":{"k8s.io/initial-events-end":"true"}`
	}
	return fmt.Appendf(nil, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":null,`+
		`"resourceVersion":"%d"%s},"spec":{"containers":null},"status":{}}}`+"\n", version, annotation)
}

// output writes a watch's events to a response body or to a WebSocket.
type output struct {
	*bufio.Writer
	batch, pending int // number of events that are written together, and number of events in the buffer
	messages       bool
	flushBody      func() error
	err            error
}

func newOutput(w http.ResponseWriter, r *http.Request, batch int) *output {
	if r.Header.Get("Upgrade") == "" {
		return &output{Writer: bufio.NewWriterSize(w, 64<<10), batch: batch, flushBody: http.NewResponseController(w).Flush}
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn := harness.MustGet(upgrader.Upgrade(w, r, nil))
	go func() { // responds to pings
		for err := error(nil); err == nil; {
			_, _, err = conn.NextReader()
		}
	}()
	return &output{Writer: bufio.NewWriterSize(conn.NetConn(), 64<<10), batch: batch, messages: true, flushBody: func() error { return nil }}
}

// send adds an event to the buffer. It writes the buffer to the connection once it contains a batch.
func (o *output) send(event []byte) {
	if size := len(event); o.messages { // header of a text frame; see section 5.2 of RFC 6455
		_, _ = o.Write([]byte{0x81, 126, byte(size >> 8), byte(size)})
	}
	_, o.err = o.Write(event)
	if o.pending++; o.pending >= o.batch && o.err == nil {
		o.err, o.pending = o.Flush(), 0
	}
}

// flush sends all events to the client.
func (o *output) flush() {
	if o.err == nil {
		o.pending, o.err = 0, o.Flush()
	}
	if o.err == nil {
		o.err = o.flushBody()
	}
}

// Isolated disables caching and makes pages cross-origin isolated. Browsers require this for precise timers and
// memory measurements.
func Isolated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}
