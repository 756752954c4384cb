// Command browser is the server of the benchmark run.mjs. It serves the benchmark page and Pods, and prints its URL.
// Its arguments are the folder of the page and the folder of the client-go WASM module.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// first is the resourceVersion of every list. The Pods have lower resourceVersions.
const first = 1 << 40

// collection contains encoded responses, so that the server uses little CPU time during a measurement.
type collection struct {
	list     []byte
	initial  []byte           // initial events of a streaming list
	modified []serve.Template // MODIFIED events of the first 1,000 Pods
}

func newCollection(n int) *collection {
	version, pods := strconv.Itoa(first), sample.Pods(1, n)
	c := &collection{list: serve.List(pods, version), initial: serve.InitialEvents(pods, version)}
	for _, pod := range pods[:min(n, 1000)] {
		event := serve.NewTemplate(pod.Event("MODIFIED"), strconv.FormatUint(pod.ResourceVersion, 10))
		c.modified = append(c.modified, event)
	}
	return c
}

// server serves lists and watches. A watch sends events only after a POST request to /order.
type server struct {
	collections map[string]*collection // keys are numbers of Pods
	orders      *serve.Orders[order]
}

// order requests events from every open watch.
type order struct {
	events int
	period time.Duration // time between two events; zero sends them as fast as possible
}

func (s *server) serveOrder(w http.ResponseWriter, r *http.Request) {
	events, badEvents := strconv.Atoi(r.FormValue("events"))
	period, badPeriod := time.ParseDuration(r.FormValue("period"))
	if badEvents != nil || badPeriod != nil {
		http.Error(w, fmt.Sprintf("invalid query %q: expected a number of events and a period such as 10ms", r.URL.RawQuery), http.StatusBadRequest)
		return
	}
	s.orders.Give(order{events, period})
}

func (s *server) servePods(w http.ResponseWriter, r *http.Request) {
	c := s.collections[r.PathValue("pods")]
	if c == nil {
		http.NotFound(w, r)
		return
	}
	query := r.URL.Query()
	w.Header().Set("Content-Type", "application/json")
	if query.Get("watch") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(c.list)))
		_, _ = w.Write(c.list)
		return
	}
	next := s.orders.Next()
	var initial []byte
	if query.Get("sendInitialEvents") == "true" {
		initial = c.initial
	}
	if send(w, initial) != nil {
		return
	}
	for version := int64(first); ; next = next.Next {
		select {
		case <-next.Given:
		case <-r.Context().Done():
			return
		}
		if next.Value.carryOut(w, c.modified, version) != nil {
			return
		}
		version += int64(next.Value.events)
	}
}

func send(w http.ResponseWriter, events []byte) error {
	if _, err := w.Write(events); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// carryOut sends the events of an order. Without a period, it combines events into writes of about 64 kB.
func (o order) carryOut(w http.ResponseWriter, events []serve.Template, version int64) error {
	const atOnce = 64 << 10
	began := time.Now()
	var buffer []byte
	for i := range o.events {
		time.Sleep(time.Until(began.Add(time.Duration(i) * o.period)))
		version++
		buffer = events[i%len(events)].Append(buffer, version)
		if o.period == 0 && len(buffer) < atOnce && i+1 < o.events {
			continue
		}
		if err := send(w, buffer); err != nil {
			return err
		}
		buffer = buffer[:0]
	}
	return nil
}

// cached allows browsers to cache responses forever, because Vite puts a hash of the content into the names of assets.
func cached(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		h.ServeHTTP(w, r)
	})
}

func main() {
	s := &server{
		orders:      serve.NewOrders[order](),
		collections: map[string]*collection{"1000": newCollection(1000), "10000": newCollection(10000)},
	}
	mux := http.NewServeMux()
	mux.Handle("/", serve.Isolated(http.FileServer(http.Dir(os.Args[1]))))
	mux.Handle("/assets/", serve.Isolated(cached(http.FileServer(http.Dir(os.Args[1])))))
	mux.Handle("/clientgo/", http.StripPrefix("/clientgo", serve.Isolated(http.FileServer(http.Dir(os.Args[2])))))
	mux.HandleFunc("/n/{pods}/api/v1/pods", s.servePods)
	mux.HandleFunc("POST /order", s.serveOrder)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, mux))
}
