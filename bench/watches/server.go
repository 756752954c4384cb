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
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
)

// server is an API server that does as little as possible. Every watch has a namespace of its own, and its Pods are rendered
// before they are sent. It sends events only when it is ordered to.
type server struct {
	orders *serve.Orders[order]

	mu       sync.Mutex
	counters counters
}

// counters count open watches, and connections of the measured transport.
type counters struct{ Watches, Dialed, Open, MaxOpen int }

// order says which events every watch sends.
type order struct {
	Pods   int           // of every namespace; each is added first and deleted last
	Events int           // of every watch, at least two for each Pod
	Every  time.Duration // between two events of a watch; zero: as fast as possible
}

// address is the address of a server.
type address struct {
	URL     string
	Control string // accepts orders over plain HTTP
	CA      string // PEM
}

func startServer(transport string) address {
	s := &server{orders: serve.NewOrders[order]()}
	api := httptest.NewUnstartedServer(http.HandlerFunc(s.serveAPI))
	api.Config.ConnState = s.countConnection
	api.Config.ErrorLog = log.New(io.Discard, "", 0) // clients abort handshakes of connections that they do not need
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

// serveControl accepts an order, or returns the counters for a GET request.
func (s *server) serveControl(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s.counters) // fails only if the client is gone
		return
	}
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Events < 2*o.Pods {
		http.Error(w, "not an order", http.StatusBadRequest)
		return
	}
	s.orders.Give(o)
}

func (s *server) serveAPI(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[]}`, time.Now().UnixNano())
		return
	}
	namespace := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/pods")
	next, out := s.orders.Next(), newOutput(w, r)
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
