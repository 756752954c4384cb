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

// The CPU times are similar to those of lw/lwtest.
const (
	processors = 2
	listCost   = 40 * time.Microsecond // CPU time per listed Pod
	watchCost  = time.Millisecond      // CPU time per watch, including a TLS handshake
)

// Default limits of API priority and fairness in kube-apiserver 1.36 for one service account. The priority level
// workload-low has 245 of 600 seats. A list occupies one seat per 100 objects, up to 10 seats. The requests of a
// service account share six queues of 50 requests.
const (
	seats          = 245
	queueLength    = 6 * 50
	objectsPerSeat = 100
	maxListSeats   = 10
	retryAfter     = time.Second
)

// server is a simulated API server. Its Pods change once per second after time zero.
type server struct {
	*clock
	pods int
	free bool // if true, requests cost nothing and are not counted

	down   bool // if true, connections are refused
	oldest int  // oldest resourceVersion from which a watch can resume

	ready   [processors]time.Duration // time at which each processor becomes free
	seated  int
	queue   []*request
	streams []*stream
	load
}

// request is a list or watch request, either queued or in progress.
type request struct {
	watch, list bool // a streaming list sets both
	version     int
	reply       func(answer)
}

// answer is an error or a response. The body of a response consists of the field text and the events of the field
// stream.
type answer struct {
	err     error
	text    string
	version int  // resourceVersion that the client knows after reading text
	expired bool // whether the field text is an ERROR event with code 410
	stream  *stream
}

// stream is a simulated watch.
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

// receive processes, queues or rejects a request.
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

// finish responds to a request and begins queued requests while enough seats are free.
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
		// The list must not be empty: after an empty streaming list, the client sends an ordinary list.
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

func (s *server) reset() {
	for _, open := range s.streams {
		open.end(errReset)
	}
	s.streams = nil
}

// end ends the stream with err. The client notices the end after its latency.
func (s *stream) end(err error) {
	s.ended, s.err = true, err
	if s.waits {
		s.client.after(s.client.latency, s.client.resume)
	}
}

// requestOf converts a request of lw.Client to a simulated request.
func requestOf(req *lw.Request) *request {
	values := harness.MustGet(url.ParseQuery(req.Query))
	version, _ := strconv.Atoi(values.Get("resourceVersion")) // zero if the parameter is missing
	return &request{watch: req.Watch, list: !req.Watch || values.Has("sendInitialEvents"), version: version}
}
