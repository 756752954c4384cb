package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// What the server is like. Processor times are about those of lw/lwtest (bench/poll); a watch's includes a TLS handshake.
const (
	processors = 2
	listCost   = 40 * time.Microsecond // for a Pod in it, compressed or streamed
	watchCost  = time.Millisecond
)

// Its limits are those that a kube-apiserver 1.36 has by default for all that one service account asks for: 245 of 600 seats
// of API priority and fairness are those of workload-low; a list has one for every hundred objects, up to ten; one account has
// six queues of 50. Whoever finds them full gets 429.
const (
	seats         = 245
	queued        = 6 * 50
	perSeat       = 100
	mostListSeats = 10
	retryAfter    = time.Second
)

// headBytes is about what a response's header takes, and what a refusal takes in all.
const headBytes = 300

// sizes are those of responses in bytes, without their headers.
type sizes struct{ list, stream, event float64 }

// sizesOf measures the responses with Pods of some templates, in the order of their names. Lists are compressed as a
// kube-apiserver does it.
func sizesOf(pods int) (s sizes) {
	var list bytes.Buffer
	zip, err := gzip.NewWriterLevel(&list, gzip.BestSpeed)
	measure.Must(err)
	sorted := sample.Templated(1, pods, max(1, pods/5))
	slices.SortFunc(sorted, func(a, b sample.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, pod := range sorted {
		_, err := io.WriteString(zip, pod.Item()+",")
		measure.Must(err)
		s.stream += float64(len(pod.Event("ADDED")))
	}
	measure.Must(zip.Close())
	s.list, s.event = float64(list.Len()), s.stream/float64(pods)
	return s
}

// server answers in simulated time. From the time zero on its collection changes once a second.
type server struct {
	*clock
	sizes
	pods    int
	free    bool // nothing costs anything, and nothing is counted
	limited bool

	down    bool          // connections are refused
	refuses time.Duration // the Retry-After of 429 for all; zero: none
	oldest  int           // version that a watch may begin at

	ready   [processors]time.Duration // when each has done what it was given
	seated  int
	queue   []*request
	streams []*stream
	tally
}

// request is one that is under way.
type request struct {
	watch, list bool // a streaming list is both
	version     int
	reply       func(answer)
}

// answer is a response: an error or a text. The stream of a watch follows its text.
type answer struct {
	err     error
	text    string
	version int  // resourceVersion after the text
	expired bool // the text is an ERROR event with code 410
	stream  *stream
}

// stream is an open watch.
type stream struct {
	client *client
	ended  bool
	err    error
	waits  bool // the client waits for what comes
}

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset")
)

func (s *server) version() int { return 1000 + max(0, int(s.now/time.Second)) }

// receive takes a request in, or refuses it.
func (s *server) receive(r *request) {
	if s.free {
		r.reply(s.answer(r))
		return
	}
	s.arrived(s.now)
	switch {
	case s.down:
		s.refused++
		r.reply(answer{err: errRefused})
	case s.refuses > 0:
		s.turnAway(r, s.refuses)
	case s.limited && (len(s.queue) > 0 || s.seated+s.seatsOf(r) > seats):
		if len(s.queue) == queued {
			s.turnAway(r, retryAfter)
			return
		}
		s.queue = append(s.queue, r)
		s.waiting(len(s.queue))
	default:
		s.begin(r)
	}
}

func (s *server) turnAway(r *request, wait time.Duration) {
	s.refused++
	s.sent(s.now, headBytes)
	r.reply(answer{err: &lw.StatusError{Status: lw.Status{Code: 429}, RetryAfter: wait}})
}

func (s *server) seatsOf(r *request) int {
	if r.list {
		return min(max(1, s.pods/perSeat), mostListSeats)
	}
	return 1
}

// begin gives a request to the processor that is ready first.
func (s *server) begin(r *request) {
	s.seated += s.seatsOf(r)
	s.underWay++
	s.waiting(len(s.queue))
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

// finish answers a request, and lets those in that have waited for its seats.
func (s *server) finish(r *request) {
	s.seated -= s.seatsOf(r)
	s.underWay--
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
	bytes, a := 0.0, answer{version: s.version()}
	switch {
	case r.watch && r.list:
		bytes, a.stream = s.stream, s.open()
		a.text = `{"type":"BOOKMARK","object":{` + metadata + `,"annotations":{"k8s.io/initial-events-end":"true"}}}}`
	case r.list:
		bytes, a.text = s.list, `{"kind":"PodList","apiVersion":"v1",`+metadata+`},"items":[]}`
	case r.version < s.oldest:
		a.expired, a.stream = true, &stream{ended: true, err: io.EOF}
		a.text = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`
	default:
		bytes, a.stream = float64(s.version()-r.version)*s.event, s.open()
		a.text = `{"type":"BOOKMARK","object":{` + metadata + `}}}`
	}
	if !s.free {
		s.sent(s.now, bytes+headBytes)
	}
	return a
}

func (s *server) open() *stream {
	opened := &stream{}
	s.streams = append(s.streams, opened)
	return opened
}

// end ends all open watches, in good order with io.EOF.
func (s *server) end(err error) {
	for _, open := range s.streams {
		open.end(err)
	}
	s.streams = nil
}

// end ends the stream. The client notices after its way from the server.
func (s *stream) end(err error) {
	s.ended, s.err = true, err
	if s.waits {
		s.client.after(s.client.way, s.client.resume)
	}
}

// requestOf reads what a client asks for.
func requestOf(req *lw.Request) *request {
	values, err := url.ParseQuery(req.Query)
	measure.Must(err)
	version, _ := strconv.Atoi(values.Get("resourceVersion"))
	return &request{watch: req.Watch, list: !req.Watch || values.Has("sendInitialEvents"), version: version}
}
