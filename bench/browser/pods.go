package main

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

// first is the version of every list, above those of the Pods; all versions that are sent have as many digits.
const first = 1 << 40

// collection is some Pods as they are sent. It is serialized once, as a real server's watch cache does: what is sent while a
// client is measured takes next to no processor time from it.
type collection struct {
	list     []byte
	initial  []byte  // a streaming list, up to its mark
	modified []event // of a part of the Pods, in turn
}

// event is a line of a watch, with its version at a place that is known.
type event struct {
	line []byte
	at   int
}

func newCollection(n int) *collection {
	version := strconv.Itoa(first)
	list := []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"` + version + `"},"items":[`)
	c := &collection{}
	for i, pod := range sample.Pods(1, n) {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, pod.Item()...)
		c.initial = append(c.initial, pod.Event("ADDED")...)
		if i < 1000 {
			pod.ResourceVersion = first
			line := []byte(pod.Event("MODIFIED"))
			c.modified = append(c.modified, event{line, bytes.Index(line, []byte(version))})
		}
	}
	c.list = append(list, "]}\n"...)
	c.initial = append(c.initial, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"`+version+
		`","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n"...)
	return c
}

// append adds the Pod's event with that version.
func (e event) append(to []byte, version int64) []byte {
	at := len(to) + e.at
	to = append(to, e.line...)
	strconv.AppendInt(to[at:at:len(to)], version, 10)
	return to
}

// server answers lists at once, and watches as it is ordered.
type server struct {
	collections map[string]*collection // by the number of their Pods

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
	s.mu.Lock()
	next := s.turn
	s.mu.Unlock()
	if query.Get("sendInitialEvents") == "true" {
		_, _ = w.Write(c.initial)
	}
	flush := http.NewResponseController(w).Flush
	_ = flush()
	for version := int64(first); ; next = next.next {
		select {
		case <-next.ready:
		case <-r.Context().Done():
			return
		}
		if !next.play(w, c.modified, version) {
			return
		}
		version += int64(next.events)
	}
}

// play sends the events of a turn, those of a burst in pieces of some events. It returns false when the client is gone.
func (t *turn) play(w http.ResponseWriter, events []event, version int64) bool {
	const piece = 64 << 10
	flush := http.NewResponseController(w).Flush
	began := time.Now()
	var buffer []byte
	for i := range t.events {
		time.Sleep(time.Until(began.Add(time.Duration(i) * t.period)))
		version++
		buffer = events[i%len(events)].append(buffer, version)
		if t.period == 0 && len(buffer) < piece && i+1 < t.events {
			continue
		}
		if _, err := w.Write(buffer); err != nil {
			return false
		}
		if flush() != nil {
			return false
		}
		buffer = buffer[:0]
	}
	return true
}
