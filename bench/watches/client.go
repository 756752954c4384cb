package main

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
)

// task is the input for a client process, which measures one client library.
type task struct {
	Client, Transport string
	Watches, Events   int           // number of watches, and number of events of each watch
	Idle              time.Duration // time for which idle watches are measured
	Server            serve.Address
}

// measurement runs a task with one informer per watch.
type measurement struct {
	task
	newInformer func() informer
	informers   []informer
	calls       atomic.Int64 // number of handler calls
}

// handlers is the number of handlers of each informer while it receives events, because informers are often shared. The
// collections are empty and each event has a new object, so no events are merged and each handler gets all of them.
const handlers = 2

// worker returns a role for client processes.
func worker(name string, measure func(*measurement) harness.Figures) harness.Role {
	return harness.Worker(name, func(t task) harness.Figures {
		return measure(&measurement{task: t, newInformer: newInformers(t)})
	})
}

// saturate measures the memory and the CPU time of idle watches, and the CPU time while the server sends events as fast
// as possible.
func (m *measurement) saturate() harness.Figures {
	found := harness.Figures{}
	m.warmUp()
	before, goroutines := harness.Memory(), runtime.NumGoroutine()
	m.start(16)
	m.untilOpen()
	after, watches := harness.Memory(), float64(m.Watches)
	found["heap and stacks per idle watch, kB"] =
		(float64(after.HeapInuse+after.StackInuse) - float64(before.HeapInuse+before.StackInuse)) / watches / 1000
	found["goroutines per idle watch"] = float64(runtime.NumGoroutine()-goroutines) / watches
	began := harness.CPUTime()
	time.Sleep(m.Idle)
	used := harness.CPUTime() - began
	found["CPU time per idle watch, µs per second"] = float64(used.Nanoseconds()) / 1000 / m.Idle.Seconds() / watches
	for _, one := range m.informers {
		one.handle(m.count) // the second handler
	}
	began = harness.CPUTime()
	m.Server.Order(m.Events)
	harness.Until(func() bool { return m.calls.Load() == int64(handlers*m.Events*m.Watches) })
	found["CPU time per event, µs"] = float64((harness.CPUTime() - began).Microseconds()) / float64(m.Events) / watches
	runtime.KeepAlive(m.informers)
	return found
}

func (m *measurement) count() { m.calls.Add(1) }

// warmUp runs one informer until it has synced, so that the measurement excludes allocations that all informers share.
func (m *measurement) warmUp() {
	ctx, stop := context.WithCancel(context.Background())
	first := m.newInformer()
	first.handle(func() {})
	var running sync.WaitGroup
	running.Go(func() { first.run(ctx) })
	first.waitForSync()
	stop()
	running.Wait()
	time.Sleep(100 * time.Millisecond) // the goroutines of a connection end after run returns
}

// start starts one informer per watch, with one handler each, and waits until they have synced. At most atOnce
// informers start at the same time.
func (m *measurement) start(atOnce int) {
	starts := make(chan struct{}, atOnce)
	var starting sync.WaitGroup
	for range m.Watches {
		one := m.newInformer()
		one.handle(m.count)
		m.informers = append(m.informers, one)
		starts <- struct{}{}
		starting.Go(func() {
			go one.run(context.Background())
			one.waitForSync()
			<-starts
		})
	}
	starting.Wait()
}

// startAtOnce starts all informers at the same time. It measures how long it takes until all watches are open. It also
// counts the connections, because a client can open more of them than the watches need when it starts many at once.
func (m *measurement) startAtOnce() harness.Figures {
	began := time.Now()
	m.start(m.Watches)
	counted := m.untilOpen()
	return harness.Figures{
		"connections dialed": float64(counted.Dialed), "maximum number of open connections": float64(counted.MaxOpen),
		"time until all watches are live, s": time.Since(began).Seconds(),
	}
}

// untilOpen waits until all watches are open, because an informer can sync before its watch is open. It returns the
// server's counters.
func (m *measurement) untilOpen() (counted serve.Counters) {
	harness.Until(func() bool {
		response := harness.MustGet(http.Get(m.Server.Control))
		defer response.Body.Close()
		harness.Must(json.NewDecoder(response.Body).Decode(&counted))
		return counted.Watches >= m.Watches
	})
	return counted
}
