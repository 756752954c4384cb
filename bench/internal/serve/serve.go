// Package serve provides responses and request queues for the API servers of the benchmarks.
package serve

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// List returns the JSON response to a list request. version is the resourceVersion of the list.
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

// RejectStreamingList responds with the error of a server that does not support streaming lists.
func RejectStreamingList(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,`+
		`"message":"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"}`)
}

// Template is a JSON object whose resourceVersion can be replaced.
type Template struct{ before, after string }

// NewTemplate returns a template of the JSON object. version is the resourceVersion in the JSON.
func NewTemplate(json, version string) Template {
	before, after, _ := strings.Cut(json, `"resourceVersion":"`+version+`"`)
	return Template{before + `"resourceVersion":"`, `"` + after}
}

// Append appends the JSON object with the given resourceVersion to a slice and returns the extended slice.
func (t Template) Append(to []byte, version int64) []byte {
	return append(strconv.AppendInt(append(to, t.before...), version, 10), t.after...)
}

// Size returns the size of the JSON object in bytes without its resourceVersion.
func (t Template) Size() int { return len(t.before) + len(t.after) }

// Orders is a queue of requests for events. Each watch of a server reads the whole queue.
type Orders[T any] struct {
	mu   sync.Mutex
	next *Order[T]
}

// Order is an element of the queue. Value and Next must not be read before Given is closed.
type Order[T any] struct {
	Given chan struct{}
	Value T
	Next  *Order[T]
}

// NewOrders returns an empty queue.
func NewOrders[T any]() *Orders[T] {
	return &Orders[T]{next: &Order[T]{Given: make(chan struct{})}}
}

// Next returns the element that the next call to Give fills. The caller must wait until the element's channel Given is
// closed.
func (o *Orders[T]) Next() *Order[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.next
}

// Give appends value to the queue.
func (o *Orders[T]) Give(value T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.next
	now.Value, now.Next = value, &Order[T]{Given: make(chan struct{})}
	o.next = now.Next
	close(now.Given)
}

// Isolated disables caching and makes pages cross-origin isolated, which browsers require for precise timers and memory
// measurements.
func Isolated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}
