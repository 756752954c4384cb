package main

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// setup is what a server begins with.
type setup struct {
	Pods int
	ETag bool // answer lists that have not changed with 304, as no kube-apiserver does
}

// order is for how long the server is to change Pods, one after the other, and how many a second.
type order struct {
	Rate float64
	For  time.Duration
}

// report is what the server did meanwhile.
type report struct {
	First, Last int64 // the first and the last version that it wrote; zero if none
	Changes     int
	Took, CPU   time.Duration
	Requests    int64 // that came
	Refused     int64 // of them, with 429
	Bytes       int64 // that were sent, all of HTTP included
}

// mostInFlight is how many requests that are no watches are answered at a time, as of a kube-apiserver (--max-requests-inflight).
// The others are refused.
const mostInFlight = 400

// server is an embedded API server in a process of its own, with what counts around it. A resource version is the time at
// which it was written, in nanoseconds, so that who sees it knows how old it is.
type server struct {
	setup
	api  *lwtest.Server
	pods []sample.Pod
	next int // of the Pods, the one to change
	report
	requests, refused, inFlight, bytes atomic.Int64
}

// serve runs until whoever started it has gone.
func serve(task string) {
	s := &server{}
	measure.Must(json.Unmarshal([]byte(task), &s.setup))
	var err error
	s.api, err = lwtest.Start(&lwtest.Options{History: int64(time.Hour)})
	measure.Must(err)
	s.pods = sample.Templated(1, s.Pods, max(1, s.Pods/5))
	for range s.pods {
		s.change()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	measure.Must(err)
	go http.Serve(&meter{listener, &s.bytes}, s)
	measure.Say("http://" + listener.Addr().String())
	measure.Converse(func(o order) any { return s.carryOut(o) })
}

// carryOut changes Pods, each at random within its share of the time, as clients that poll have a beat of their own.
func (s *server) carryOut(o order) report {
	r := report{CPU: -measure.ProcessorTime(), Requests: -s.requests.Load(), Refused: -s.refused.Load(), Bytes: -s.bytes.Load()}
	began := time.Now()
	if o.Rate > 0 {
		share := time.Duration(float64(time.Second) / o.Rate)
		for at := time.Duration(0); at < o.For; at += share {
			time.Sleep(time.Until(began.Add(at + rand.N(share))))
			r.Last = s.change()
			r.Changes++
			if r.First == 0 {
				r.First = r.Last
			}
		}
	}
	time.Sleep(time.Until(began.Add(o.For)))
	r.Took = time.Since(began)
	r.CPU += measure.ProcessorTime()
	r.Requests, r.Refused, r.Bytes = r.Requests+s.requests.Load(), r.Refused+s.refused.Load(), r.Bytes+s.bytes.Load()
	return r
}

// change writes one Pod, and returns its version.
func (s *server) change() int64 {
	pod := s.pods[s.next]
	s.next = (s.next + 1) % len(s.pods)
	version := time.Now().UnixNano()
	pod.ResourceVersion = uint64(version)
	_, err := s.api.Play("pods", pod.JSON())
	measure.Must(err)
	return version
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if r.URL.Query().Has("watch") {
		s.api.ServeHTTP(w, r)
		return
	}
	defer s.inFlight.Add(-1)
	if s.inFlight.Add(1) > mostInFlight {
		s.refused.Add(1)
		lwtest.TooManyRequests(time.Second)(w, r, nil)
		return
	}
	if s.ETag {
		tag := `"` + strconv.FormatInt(s.api.Revision(), 10) + `"` // not newer than what is answered
		if w.Header().Set("ETag", tag); r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	s.api.ServeHTTP(w, r)
}

// meter counts what is sent.
type meter struct {
	net.Listener
	sent *atomic.Int64
}

func (m *meter) Accept() (net.Conn, error) {
	conn, err := m.Listener.Accept()
	return &meteredConn{conn, m.sent}, err
}

type meteredConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c *meteredConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}
