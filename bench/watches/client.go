package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// task is one measurement.
type task struct {
	Client, Transport string
	Watches           int
	Pods, Events      int           // total over all watches
	Rate              int           // events per second for measuring the delay; zero skips it
	Paced             time.Duration // how long to measure the delay
	Idle              time.Duration // how long to measure the CPU time of idle watches
	StartOnly         bool          // measure only the simultaneous start of all watches
	Server            address
}

// result contains the measurements of a task. Times are in nanoseconds.
type result struct {
	Bytes, Goroutines float64 // per idle watch: heap and stacks, and goroutines
	BytesAfter        float64 // heap and stacks after events
	IdleCPU           float64 // per idle watch and second
	CPU, Wall         float64 // per event
	P99               float64 // delay from the server's write to the handler

	Start           time.Duration // time until all watches are live after a simultaneous start
	Dialed, MaxOpen int           // connections: total, and maximum at the same time
}

// measurement runs a task.
type measurement struct {
	task
	result
	newInformer func(namespace string) clients.Informer
	informers   []clients.Informer
	calls       atomic.Pointer[calls]
	ctx         context.Context
}

const (
	handlers = 2                // per informer that receives events; an idle informer has one
	maxWait  = 10 * time.Minute // a task that takes longer has failed
)

func measure(t task) result {
	ctx, stop := context.WithTimeout(context.Background(), maxWait)
	defer stop()
	options := clients.Options{URL: t.Server.URL, CA: t.Server.CA, WebSocket: t.Transport == overWebSocket}
	m := &measurement{task: t, newInformer: clients.New(t.Client, options), ctx: ctx}
	if t.StartOnly {
		m.startAtOnce()
		return m.result
	}
	m.warmUp()
	bytes, goroutines := harness.HeapAndStacks(), runtime.NumGoroutine()
	m.start(16)
	m.Bytes = m.bytesPerWatch(bytes)
	m.Goroutines = float64(runtime.NumGoroutine()-goroutines) / float64(t.Watches)
	if t.Idle > 0 {
		began := harness.CPUTime()
		time.Sleep(t.Idle)
		m.IdleCPU = float64(harness.CPUTime()-began) / t.Idle.Seconds() / float64(t.Watches)
	}
	for _, one := range m.informers {
		one.Handle(m.handle) // a second handler
	}
	if t.Rate > 0 {
		m.pace()
	}
	m.saturate()
	time.Sleep(time.Second) // the last handlers may still run
	m.BytesAfter = m.bytesPerWatch(bytes)
	runtime.KeepAlive(m.informers)
	return m.result
}

// bytesPerWatch returns the growth of heap and stacks per watch. It returns zero for a single watch because the
// runtime's rounding is larger.
func (m *measurement) bytesPerWatch(before float64) float64 {
	if m.Watches == 1 {
		return 0
	}
	return (harness.HeapAndStacks() - before) / float64(m.Watches)
}

// warmUp runs one informer until it has synced, so that shared data is allocated before the measurement.
func (m *measurement) warmUp() {
	ctx, stop := context.WithCancel(m.ctx)
	first := m.newInformer("first")
	first.Handle(func(clients.Pod) {})
	var running sync.WaitGroup
	running.Go(func() { first.Run(ctx) })
	harness.Must(first.WaitForSync(m.ctx))
	stop()
	running.Wait()
	time.Sleep(100 * time.Millisecond) // the goroutines of connections end slightly later
}

// start starts all informers with one handler each. At most atOnce of them start at the same time.
func (m *measurement) start(atOnce int) {
	starts := make(chan struct{}, atOnce)
	var starting sync.WaitGroup
	for i := range m.Watches {
		one := m.newInformer("watch-" + strconv.Itoa(i))
		one.Handle(m.handle)
		m.informers = append(m.informers, one)
		starts <- struct{}{}
		starting.Go(func() {
			go one.Run(m.ctx)
			harness.Must(one.WaitForSync(m.ctx))
			<-starts
		})
	}
	starting.Wait()
}

// startAtOnce measures the simultaneous start of all informers.
func (m *measurement) startAtOnce() {
	began := time.Now()
	m.start(m.Watches)
	var counted counters
	for counted.Watches < m.Watches { // an informer may sync before its watch is open
		time.Sleep(10 * time.Millisecond)
		harness.Must(json.Unmarshal(m.control(http.MethodGet, nil), &counted))
	}
	m.Start, m.Dialed, m.MaxOpen = time.Since(began), counted.Dialed, counted.MaxOpen
}

// control sends a request to the server's control address.
func (m *measurement) control(method string, body []byte) []byte {
	request := harness.MustGet(http.NewRequestWithContext(m.ctx, method, m.Server.Control, bytes.NewReader(body)))
	request.Close = true
	response := harness.MustGet(http.DefaultClient.Do(request))
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		panic("the server rejected a control request: " + response.Status)
	}
	return harness.MustGet(io.ReadAll(response.Body))
}

// calls counts the calls of handlers.
type calls struct {
	left   atomic.Int64
	delays []time.Duration // one per call; nil if delays are not measured
	done   chan struct{}   // closed after the last call
}

// handle is the handler of all informers. The resourceVersion of a Pod is the time at which the server sent it.
func (m *measurement) handle(pod clients.Pod) {
	c := m.calls.Load()
	left := c.left.Add(-1)
	if c.delays != nil {
		sent := harness.MustGet(strconv.ParseInt(pod.GetResourceVersion(), 10, 64))
		c.delays[left] = time.Duration(time.Now().UnixNano() - sent)
	}
	if left == 0 {
		close(c.done)
	}
}

// pace measures the delays of events that the server sends at a constant rate.
func (m *measurement) pace() {
	perWatch := max(int(m.Paced.Seconds()*float64(m.Rate))/m.Watches, 2)
	c := &calls{delays: make([]time.Duration, handlers*perWatch*m.Watches)}
	m.send(c, order{Pods: 1, Events: perWatch, Every: time.Second * time.Duration(m.Watches) / time.Duration(m.Rate)})
	slices.Sort(c.delays)
	m.P99 = float64(c.delays[len(c.delays)*99/100])
}

// saturate measures the cost of events that the server sends as fast as possible.
func (m *measurement) saturate() {
	pods := max(m.Pods/m.Watches, 1)
	perWatch := max(m.Events/m.Watches, 2*pods)
	began, cpu := time.Now(), harness.CPUTime()
	m.send(&calls{}, order{Pods: pods, Events: perWatch})
	events := float64(perWatch * m.Watches)
	m.CPU, m.Wall = float64(harness.CPUTime()-cpu)/events, float64(time.Since(began))/events
}

// send orders events for every watch and returns after the last handler call.
func (m *measurement) send(c *calls, o order) {
	all := handlers * o.Events * m.Watches
	c.left.Store(int64(all))
	c.done = make(chan struct{})
	m.calls.Store(c)
	m.control(http.MethodPost, harness.MustGet(json.Marshal(o)))
	select {
	case <-c.done:
	case <-m.ctx.Done():
		panic(fmt.Sprintf("%d of %d handler calls are missing", c.left.Load(), all))
	}
}
