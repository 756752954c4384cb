// Command browser serves what run.mjs measures: pages, this package, and an API server with as many Pods as the path says.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

func main() {
	s := &server{turn: newTurn()}
	mux := http.NewServeMux()
	mux.Handle("/", files(os.Args[1]))
	mux.Handle("/listwatch/", http.StripPrefix("/listwatch", files(os.Args[2])))
	mux.HandleFunc("/n/{pods}/api/v1/pods", s.pods)
	mux.HandleFunc("POST /order", s.order)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, mux))
}

// files serves a folder to pages that may measure their memory.
func files(folder string) http.Handler {
	served := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		served.ServeHTTP(w, r)
	})
}

// server answers lists at once, and watches as it is ordered.
type server struct {
	mu   sync.Mutex
	turn *turn
}

// turn is an order: so many events, one in each period; none is as fast as possible.
type turn struct {
	events int
	period time.Duration
	ready  chan struct{}
	next   *turn
}

func newTurn() *turn { return &turn{ready: make(chan struct{})} }

func (s *server) order(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.turn
	now.events, _ = strconv.Atoi(r.FormValue("events"))
	now.period, _ = time.ParseDuration(r.FormValue("period"))
	now.next = newTurn()
	s.turn = now.next
	close(now.ready)
}

func (s *server) pods(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.PathValue("pods"))
	pods := sample.Pods(1, n)
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		items := make([]string, n)
		for i, pod := range pods {
			items[i] = pod.Item()
		}
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`+"\n", first, strings.Join(items, ","))
		return
	}
	s.mu.Lock()
	next := s.turn
	s.mu.Unlock()
	flush := http.NewResponseController(w).Flush
	_ = flush()
	for version := uint64(first); ; next = next.next {
		select {
		case <-next.ready:
		case <-r.Context().Done():
			return
		}
		began := time.Now()
		for i := range next.events {
			time.Sleep(time.Until(began.Add(time.Duration(i) * next.period)))
			pod := pods[i%n]
			version++
			pod.ResourceVersion = version
			if _, err := w.Write([]byte(pod.Event("MODIFIED"))); err != nil {
				return
			}
			if next.period > 0 {
				_ = flush()
			}
		}
		_ = flush()
	}
}

// first is the version of every list: above those of the Pods.
const first = 1 << 40
