package main

import (
	"errors"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// The CPU times of requests are similar to the CPU times of lw/lwtest.
const (
	processors = 2
	listCost   = 40 * time.Microsecond // CPU time per Pod, for compressing or streaming it
	watchCost  = time.Millisecond      // includes a TLS handshake
)

// These are the limits that API priority and fairness of kube-apiserver 1.36 sets for one service account by default.
// The priority level workload-low has 245 of 600 seats. A list takes one seat per 100 objects, up to 10 seats. A
// service account has six queues of 50 requests.
const (
	seats          = 245
	queueLength    = 6 * 50
	objectsPerSeat = 100
	maxListSeats   = 10
	retryAfter     = time.Second
)

// server is an API server on the simulated clock. After time zero, its collection changes once per second.
type server struct {
	*clock
	pods int
	free bool // if true, requests use no CPU time or seats and are not counted

	down   bool // whether connections are refused
	oldest int  // oldest resourceVersion from which a watch can start

	ready   [processors]time.Duration // time at which each processor becomes free
	seated  int
	queue   []*request
	streams []*stream
	load
}

// request is an active or queued request.
type request struct {
	watch, list bool // both are true for a streaming list
	version     int
	reply       func(answer)
}

// answer is a connection error or a response. The response body starts with the text and continues with the events of
// the stream.
type answer struct {
	err     error
	text    string
	version int  // resourceVersion at the end of the text
	expired bool // whether the text is an ERROR event with code 410
	stream  *stream
}

// stream is an open watch.
type stream struct {
	client *client
	ended  bool
	err    error
	waits  bool // whether the client waits for the end of the stream
}

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset")
)

func (s *server) version() int { return 1000 + max(0, int(s.now/time.Second)) }

// receive accepts, queues or rejects a request.
func (s *server) receive(r *request) {
	if s.free {
		r.reply(s.answer(r))
		return
	}
	s.arrivals = append(s.arrivals, s.now)
	switch {
	case s.down:
		s.rejected++
		r.reply(answer{err: errRefused})
	case len(s.queue) == queueLength:
		s.rejected++
		r.reply(answer{err: &lw.StatusError{Code: 429, RetryAfter: retryAfter}})
	case len(s.queue) > 0 || s.seated+s.seatsOf(r) > seats:
		s.queue = append(s.queue, r)
	default:
		s.begin(r)
	}
}

func (s *server) seatsOf(r *request) int {
	if r.list {
		return min(max(1, s.pods/objectsPerSeat), maxListSeats)
	}
	return 1
}

// begin assigns a request to the processor that becomes free first.
func (s *server) begin(r *request) {
	s.seated += s.seatsOf(r)
	next := 0
	for i, at := range s.ready {
		if at < s.ready[next] {
			next = i
		}
	}
	cost := watchCost
	if r.list {
		cost = time.Duration(s.pods) * listCost
	}
	s.ready[next] = max(s.now, s.ready[next]) + cost
	s.at(s.ready[next], func() { s.finish(r) })
}

// finish responds to a request and starts queued requests while seats are available.
func (s *server) finish(r *request) {
	s.seated -= s.seatsOf(r)
	r.reply(s.answer(r))
	for len(s.queue) > 0 && s.seated+s.seatsOf(s.queue[0]) <= seats {
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.begin(next)
	}
}

func (s *server) answer(r *request) answer {
	version := strconv.Itoa(s.version())
	metadata := `"metadata":{"resourceVersion":"` + version + `"`
	a := answer{version: s.version()}
	switch {
	case r.watch && r.list:
		a.stream = s.open()
		// The response contains one object. After an empty streaming list, the client would send an ordinary list.
		a.text = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}}
{"type":"BOOKMARK","object":{` + metadata + `,"annotations":{"k8s.io/initial-events-end":"true"}}}}`
	case r.list:
		a.text = `{"kind":"PodList","apiVersion":"v1",` + metadata + `},"items":[]}`
	case r.version < s.oldest:
		a.expired, a.stream = true, &stream{ended: true, err: io.EOF}
		a.text = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`
	default:
		a.stream = s.open()
		a.text = `{"type":"BOOKMARK","object":{` + metadata + `}}}`
	}
	return a
}

func (s *server) open() *stream {
	opened := &stream{}
	s.streams = append(s.streams, opened)
	return opened
}

// reset resets the connections of all open watches.
func (s *server) reset() {
	for _, open := range s.streams {
		open.end(errReset)
	}
	s.streams = nil
}

// end ends the stream. The client notices the end after its latency.
func (s *stream) end(err error) {
	s.ended, s.err = true, err
	if s.waits {
		s.client.after(s.client.way, s.client.resume)
	}
}

// requestOf parses the URL of a client's request.
func requestOf(req *lw.Request) *request {
	values := harness.MustGet(url.ParseQuery(req.Query))
	version, _ := strconv.Atoi(values.Get("resourceVersion")) // zero if the parameter is not set
	return &request{watch: req.Watch, list: !req.Watch || values.Has("sendInitialEvents"), version: version}
}
