// Package serve provides code that the servers of several benchmarks share.
package serve

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// List returns the response to a list of Pods.
func List(pods []sample.Pod, version string) []byte {
	list := []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"` + version + `"},"items":[`)
	for i, pod := range pods {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, pod.Item()...)
	}
	return append(list, "]}\n"...)
}

// InitialEvents returns the events of a streaming list: one ADDED event for each Pod and the initial-events-end
// bookmark.
func InitialEvents(pods []sample.Pod, version string) (events []byte) {
	for _, pod := range pods {
		events = append(events, pod.Event("ADDED")...)
	}
	return append(events, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"`+version+
		`","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n"...)
}

// RejectStreamingList responds like a server without streaming lists.
func RejectStreamingList(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,`+
		`"message":"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"}`) // fails only if the client is gone
}

// Template is JSON in which the resourceVersion can be replaced.
type Template struct{ before, after string }

// NewTemplate splits JSON at the given resourceVersion and returns the template.
func NewTemplate(json, version string) Template {
	before, after, _ := strings.Cut(json, `"resourceVersion":"`+version+`"`)
	return Template{before + `"resourceVersion":"`, `"` + after}
}

// Append appends the JSON with the given resourceVersion to a slice and returns the extended slice.
func (t Template) Append(to []byte, version int64) []byte {
	return append(strconv.AppendInt(append(to, t.before...), version, 10), t.after...)
}

// Size returns the size of the JSON without the resourceVersion.
func (t Template) Size() int { return len(t.before) + len(t.after) }

// Orders is a queue of orders. Every watch of a server reads each order and sends the events that it requests.
type Orders[T any] struct {
	mu   sync.Mutex
	next *Order[T]
}

// Order is an element of the queue. Value and Next are valid after Given is closed.
type Order[T any] struct {
	Given chan struct{}
	Value T
	Next  *Order[T]
}

// NewOrders returns an empty queue of orders.
func NewOrders[T any]() *Orders[T] {
	return &Orders[T]{next: &Order[T]{Given: make(chan struct{})}}
}

// Next returns the next order. The caller must wait until its channel Given is closed.
func (o *Orders[T]) Next() *Order[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.next
}

// Give adds an order to the queue.
func (o *Orders[T]) Give(value T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.next
	now.Value, now.Next = value, &Order[T]{Given: make(chan struct{})}
	o.next = now.Next
	close(now.Given)
}

// Isolated returns a handler that adds headers to all responses. They make pages cross-origin isolated, for exact
// clocks and memory measurements, and disable caching.
func Isolated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}
