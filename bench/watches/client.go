package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// task is the input of a client process.
type task struct {
	Client, Transport string
	Watches           int
	Pods, Events      int           // totals over all watches
	Idle              time.Duration // time for which idle watches are measured
	StartOnly         bool          // measures only a simultaneous start of all watches
	Server            address
}

// result contains the measurements of a task.
type result struct {
	Bytes, Goroutines float64 // per idle watch: bytes of heap and stacks, and number of goroutines
	IdleCPU           float64 // CPU time per idle watch, in nanoseconds per second
	CPU               float64 // CPU time per event in nanoseconds

	Start           time.Duration // time from a simultaneous start until all watches are live
	Dialed, MaxOpen int           // total number of connections opened, and the most that were open at once
}

// measurement runs a task with one informer per watch.
type measurement struct {
	task
	result
	newInformer func(namespace string) clients.Informer
	informers   []clients.Informer
	calls       atomic.Pointer[calls]
	ctx         context.Context
}

const (
	handlers = 2                // number of handlers of each informer while it receives events
	maxWait  = 10 * time.Minute // maximum duration of a task
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
	if t.Watches > 1 { // the heap of a single watch is too small to measure
		m.Bytes = (harness.HeapAndStacks() - bytes) / float64(t.Watches)
	}
	m.Goroutines = float64(runtime.NumGoroutine()-goroutines) / float64(t.Watches)
	if t.Idle > 0 {
		began := harness.CPUTime()
		time.Sleep(t.Idle)
		m.IdleCPU = float64(harness.CPUTime()-began) / t.Idle.Seconds() / float64(t.Watches)
	}
	for _, one := range m.informers {
		one.Handle(m.handle) // the second handler
	}
	m.saturate()
	runtime.KeepAlive(m.informers)
	return m.result
}

// warmUp runs one informer until it has synced, so that the measurement excludes the allocations that all informers
// share.
func (m *measurement) warmUp() {
	ctx, stop := context.WithCancel(m.ctx)
	first := m.newInformer("first")
	first.Handle(func(clients.Pod) {})
	var running sync.WaitGroup
	running.Go(func() { first.Run(ctx) })
	harness.Must(first.WaitForSync(m.ctx))
	stop()
	running.Wait()
	time.Sleep(100 * time.Millisecond) // the goroutines of a connection end after Run returns
}

// start starts one informer per watch, with one handler each, and waits until they have synced. At most atOnce
// informers start at the same time.
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

// startAtOnce starts all informers at the same time. It measures the time until all watches are open and counts the
// connections.
func (m *measurement) startAtOnce() {
	began := time.Now()
	m.start(m.Watches)
	var counted counters
	for counted.Watches < m.Watches { // an informer can sync before its watch is open
		time.Sleep(10 * time.Millisecond)
		harness.Must(json.Unmarshal(m.control(http.MethodGet, nil), &counted))
	}
	m.Start, m.Dialed, m.MaxOpen = time.Since(began), counted.Dialed, counted.MaxOpen
}

// control sends a request to the control URL of the server and returns the response body.
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

// calls counts down the expected handler calls.
type calls struct {
	left atomic.Int64
	done chan struct{} // closed after the last call
}

// handle is the handler that all informers call.
func (m *measurement) handle(clients.Pod) {
	if c := m.calls.Load(); c.left.Add(-1) == 0 {
		close(c.done)
	}
}

// saturate measures the CPU time per event while the server sends events as fast as possible.
func (m *measurement) saturate() {
	pods := max(m.Pods/m.Watches, 1)
	perWatch := max(m.Events/m.Watches, 2*pods)
	cpu := harness.CPUTime()
	m.send(order{Pods: pods, Events: perWatch})
	m.CPU = float64(harness.CPUTime()-cpu) / float64(perWatch*m.Watches)
}

// send gives an order to the server and returns after the last handler call.
func (m *measurement) send(o order) {
	all := handlers * o.Events * m.Watches
	c := &calls{done: make(chan struct{})}
	c.left.Store(int64(all))
	m.calls.Store(c)
	m.control(http.MethodPost, harness.MustGet(json.Marshal(o)))
	select {
	case <-c.done:
	case <-m.ctx.Done():
		panic(fmt.Sprintf("%d of %d handler calls are missing", c.left.Load(), all))
	}
}
