package informers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// Task is one measurement, made by a process of its own.
type Task struct {
	Contender, Transport string
	Watches              int
	Pods, Events         int           // of all watches
	Rate                 int           // events a second whose delay is measured, over all watches; zero: none
	Paced                time.Duration // for how long
	Idle                 time.Duration // for how long the processor time of idle watches is measured
	Profile              string        // a folder for profiles; none if empty
	StartOnly            bool          // start all watches at once, and measure nothing else
	Server               address
}

// Result is what a task has measured.
type Result struct {
	Bytes, Goroutines float64 // of an idle watch: heap and stacks
	BytesAfter        float64 // the same, after events
	IdleCPU           float64 // processor time of an idle watch, in ns a second
	CPU, Clock        float64 // of an event, in ns
	P99               float64 // from the server's write to the handler, in ns

	Start             time.Duration // until all watches are live that start at once
	Dialed, OpenAtMax int           // connections: in all, and at the same time
}

// course carries out a task.
type course struct {
	Task
	Result
	contender contender
	informers []informer
	ear       atomic.Pointer[ear]
	ctx       context.Context
}

const handlers = 2 // of an informer, while events come; one while it is idle

const patience = 10 * time.Minute // after which a task has failed; nothing comes near

func run(t Task) Result {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	c := &course{Task: t, contender: contenders[t.Contender](t.Server, t.Transport), ctx: ctx}
	if t.StartOnly {
		c.startAtOnce()
		return c.Result
	}
	c.warmUp()
	bytes, goroutines := measure.HeapAndStacks(), runtime.NumGoroutine()
	c.start(16)
	perWatch := func() float64 {
		if t.Watches == 1 {
			return 0 // is lost in what the runtime rounds up
		}
		return (measure.HeapAndStacks() - bytes) / float64(t.Watches)
	}
	c.Bytes, c.Goroutines = perWatch(), float64(runtime.NumGoroutine()-goroutines)/float64(t.Watches)
	c.profile("idle")
	if t.Idle > 0 {
		began := measure.ProcessorTime()
		time.Sleep(t.Idle)
		c.IdleCPU = float64(measure.ProcessorTime()-began) / t.Idle.Seconds() / float64(t.Watches)
	}
	for _, one := range c.informers {
		one.handle(c.told) // a second handler
	}
	if t.Rate > 0 {
		c.pace()
	}
	c.saturate()
	time.Sleep(time.Second) // who was told the last event may still be at work on it
	c.BytesAfter = perWatch()
	c.profile("after")
	runtime.KeepAlive(c.informers)
	return c.Result
}

// warmUp lets one informer sync and end, so that what all share is there before the first watch is measured.
func (c *course) warmUp() {
	ctx, stop := context.WithCancel(c.ctx)
	first := c.contender.informer("first")
	first.handle(func(string) {})
	var running sync.WaitGroup
	running.Go(func() { first.run(ctx) })
	first.synced(c.ctx)
	stop()
	running.Wait()
	time.Sleep(100 * time.Millisecond) // connections end in goroutines of their own
}

// startAtOnce starts all informers at once, and asks the server how many connections that took.
func (c *course) startAtOnce() {
	began := time.Now()
	c.start(c.Watches)
	counted := c.counted()
	for counted.Watches < c.Watches { // an informer may be synced before its watch is open
		time.Sleep(10 * time.Millisecond)
		counted = c.counted()
	}
	c.Start, c.Dialed, c.OpenAtMax = time.Since(began), counted.Dialed, counted.OpenAtMax
}

// counted returns the server's counters.
func (c *course) counted() (n counters) {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodGet, c.Server.Control, nil)
	measure.Must(err)
	response, err := http.DefaultClient.Do(request)
	measure.Must(err)
	defer response.Body.Close()
	measure.Must(json.NewDecoder(response.Body).Decode(&n))
	return n
}

// start starts all informers, each with a handler. At most atOnce of them are starting at any time.
func (c *course) start(atOnce int) {
	places := make(chan struct{}, atOnce)
	var starting sync.WaitGroup
	for i := range c.Watches {
		one := c.contender.informer("watch-" + strconv.Itoa(i))
		one.handle(c.told)
		c.informers = append(c.informers, one)
		places <- struct{}{}
		starting.Go(func() {
			go one.run(c.ctx)
			one.synced(c.ctx)
			<-places
		})
	}
	starting.Wait()
}

// ear counts what the handlers are told, and may keep the delays.
type ear struct {
	left   atomic.Int64
	delays []time.Duration // one for each call that is awaited, or none
	done   chan struct{}
}

func (c *course) told(version string) {
	e := c.ear.Load()
	left := e.left.Add(-1)
	if e.delays != nil {
		sent, err := strconv.ParseInt(version, 10, 64)
		measure.Must(err)
		e.delays[left] = time.Duration(time.Now().UnixNano() - sent)
	}
	if left == 0 {
		close(e.done)
	}
}

// pace measures the delays of events that come one by one.
func (c *course) pace() {
	perWatch := max(int(c.Paced.Seconds()*float64(c.Rate))/c.Watches, 2)
	e := &ear{delays: make([]time.Duration, handlers*perWatch*c.Watches)}
	c.send(e, order{Pods: 1, Events: perWatch, Every: time.Second * time.Duration(c.Watches) / time.Duration(c.Rate)})
	slices.Sort(e.delays)
	c.P99 = float64(e.delays[len(e.delays)*99/100])
}

// saturate measures what events cost that come as fast as they can be sent.
func (c *course) saturate() {
	pods := max(c.Pods/c.Watches, 1)
	perWatch := max(c.Events/c.Watches, 2*pods)
	began, cpu := time.Now(), measure.ProcessorTime()
	c.send(&ear{}, order{Pods: pods, Events: perWatch})
	events := float64(perWatch * c.Watches)
	c.CPU, c.Clock = float64(measure.ProcessorTime()-cpu)/events, float64(time.Since(began))/events
}

// send orders events of every watch, and returns when all handlers were told all of them.
func (c *course) send(e *ear, o order) {
	e.left.Store(int64(handlers * o.Events * c.Watches))
	e.done = make(chan struct{})
	c.ear.Store(e)
	body, err := json.Marshal(o)
	measure.Must(err)
	request, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.Server.Control, bytes.NewReader(body))
	measure.Must(err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	measure.Must(err)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		panic("the server does not take the order: " + response.Status)
	}
	select {
	case <-e.done:
	case <-c.ctx.Done():
		fmt.Fprintf(os.Stderr, "%d of %d calls of handlers are missing\n", e.left.Load(), handlers*o.Events*c.Watches)
		os.Exit(1)
	}
}

// profile writes a heap profile, if one is wanted.
func (c *course) profile(when string) {
	if c.Profile == "" {
		return
	}
	name := fmt.Sprintf("%s-%s-%d-%s.heap", c.Contender, strings.ReplaceAll(c.Transport, "/", ""), c.Watches, when)
	file, err := os.Create(filepath.Join(c.Profile, name))
	measure.Must(err)
	measure.Must(pprof.WriteHeapProfile(file))
	measure.Must(file.Close())
}
