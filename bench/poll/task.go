package main

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// way is how clients follow.
type way struct {
	Every time.Duration // between two lists; zero: they watch
	ETag  bool
}

// task is one measurement, made by a process of the clients with a server in a process of its own.
type task struct {
	way
	Clients, Pods int
	Rate          float64 // changes a second
	Window        time.Duration
}

// result is what came of it. Processor time and bytes are those of the window, per second.
type result struct {
	ServerCPU, ClientCPU float64 // seconds
	Requests, Refused    float64
	Answered             float64 // lists that came to their end
	Bytes                float64
	Others               float64         // processor time of all other processes on this machine, in seconds
	Delays               []time.Duration // from a change's write until a client held it, of all changes and clients
	Unseen               int             // changes that a client never held
}

// course carries out a task.
type course struct {
	task
	followers []follower
	seen      []*sight
	synced    sync.WaitGroup
	partner   *measure.Partner
}

// sight is what one client has seen.
type sight struct {
	newest atomic.Int64
	mu     sync.Mutex
	at     map[int64]time.Duration // by version, how old it was
}

func (s *sight) see(version int64) {
	age := time.Duration(time.Now().UnixNano() - version)
	s.mu.Lock()
	s.at[version] = age
	s.mu.Unlock()
	s.newest.Store(max(s.newest.Load(), version))
}

// patience is how long clients are waited for that ought to see something long before.
const patience = 5 * time.Second

func run(t task) (r result) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	begun, err := json.Marshal(setup{Pods: t.Pods, ETag: t.ETag})
	measure.Must(err)
	c := &course{task: t}
	c.partner, err = measure.Start(ctx, "server", string(begun))
	measure.Must(err)
	defer c.partner.Close()
	c.start(ctx)
	answered, cpu, machine := c.answered(), measure.ProcessorTime(), measure.MachineTime()
	var did report
	measure.Must(c.partner.Ask(order{Rate: t.Rate, For: t.Window}, &did))
	seconds := did.Took.Seconds()
	r.ClientCPU = (measure.ProcessorTime() - cpu).Seconds() / seconds
	r.Others = max(0, (measure.MachineTime()-machine-did.CPU).Seconds()/seconds-r.ClientCPU)
	r.Answered = float64(c.answered()-answered) / seconds
	r.ServerCPU, r.Bytes = did.CPU.Seconds()/seconds, float64(did.Bytes)/seconds
	r.Requests, r.Refused = float64(did.Requests)/seconds, float64(did.Refused)/seconds
	c.await(did.Last)
	c.collect(did, &r)
	return r
}

// start starts all clients, a few at a time, as what a start costs is another question (bench/storm).
func (c *course) start(ctx context.Context) {
	var server string
	measure.Must(c.partner.Hear(&server))
	places, window := make(chan struct{}, 16), make(chan struct{})
	for range c.Clients {
		follow := newWatcher(server)
		if c.Every > 0 {
			follow = newPoller(server, c.Every, c.ETag)
		}
		s := &sight{at: map[int64]time.Duration{}}
		c.followers, c.seen = append(c.followers, follow), append(c.seen, s)
		places <- struct{}{}
		c.synced.Add(1)
		synced := sync.OnceFunc(func() {
			<-places
			c.synced.Done()
		})
		go follow.follow(ctx, s.see, synced, window)
	}
	c.synced.Wait()
	close(window)
}

func (c *course) answered() (sum int64) {
	for _, one := range c.followers {
		sum += one.answered()
	}
	return sum
}

// await waits until all clients have seen the last change, as long as that makes sense.
func (c *course) await(last int64) {
	for end := time.Now().Add(c.Every + patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		missing := false
		for _, s := range c.seen {
			missing = missing || s.newest.Load() < last
		}
		if !missing {
			return
		}
	}
}

// collect takes the delays of the changes that were made within the window.
func (c *course) collect(did report, r *result) {
	r.Unseen = did.Changes * c.Clients
	for _, s := range c.seen {
		s.mu.Lock()
		for version, age := range s.at {
			if did.First > 0 && version >= did.First {
				r.Delays = append(r.Delays, age)
				r.Unseen--
			}
		}
		s.mu.Unlock()
	}
}
