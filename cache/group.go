package cache

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/lock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Group starts several informers, waits until all are synced, runs workers, and stops the workers before the informers.
// The zero value is an empty group. A Group must not be copied. All methods may be called concurrently, but only one
// Run may be active at a time.
type Group struct {
	mu      lock.Mutex
	members []member
	running bool
	current *groupRun // the current run, or the next run if none is active; nil before the first use
}

type member struct {
	name string
	runner
}

// runner declares the methods of an [Informer] that a group calls.
type runner interface {
	Run(ctx context.Context) error
	Synced() <-chan struct{}
	State() lw.State
}

// groupRun represents one call of Group.Run.
type groupRun struct {
	done  chan struct{} // closed when the run begins to stop
	cause error         // the reason why the run stops; set before done is closed
}

// Add adds an [Informer] or a type with the same three methods. Its method Run must block until ctx is done or the
// informer fails permanently, and return the cause. Its method Synced returns a channel that is closed when the first
// list is complete. If the informer fails, the error of Group.Run contains name. Add panics while the group runs.
func (g *Group) Add(name string, informer interface {
	Run(ctx context.Context) error
	Synced() <-chan struct{}
	State() lw.State
}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running {
		panic("cache: Group.Add called during Run; add all informers before Run")
	}
	g.members = append(g.members, member{name, informer})
}

// Run runs all informers. When all are synced, it starts each worker in a goroutine.
//
// Run stops when ctx is done, an informer fails permanently, or a worker returns an error. An informer fails
// permanently if its Options.StopOn returns true. To stop, Run first cancels the context of the workers and waits for
// them. Then it ends all streams and waits until the handler calls in progress return. A worker can therefore still
// read current stores while it finishes.
//
// When Run returns, all its goroutines have ended and no handler is being called. A program that has lost a leader
// election can then release its lease. Handlers do not receive the changes that are still queued. A later Run resumes
// from the stores and delivers them.
//
// Run returns context.Cause(ctx), the worker's error, or the informer's error with its name. Run panics if the previous
// Run has not returned.
func (g *Group) Run(ctx context.Context, workers ...func(context.Context) error) error {
	members, run := g.start()
	defer g.stop()
	working, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	streaming, stop := context.WithCancel(context.WithoutCancel(ctx)) // canceled only after the workers have returned
	defer stop()
	var streams, jobs sync.WaitGroup
	if working.Err() == nil {
		for _, m := range members {
			streams.Go(func() { fail(&memberError{m.name, cmp.Or(m.Run(streaming), errEnded)}) })
		}
	}
	if waitSynced(working, members, nil) == nil && working.Err() == nil {
		for _, work := range workers {
			jobs.Go(func() {
				if err := work(working); err != nil {
					fail(err)
				}
			})
		}
	}
	<-working.Done()
	run.cause = context.Cause(working)
	close(run.done)
	jobs.Wait()
	stop()
	streams.Wait()
	return run.cause
}

// WaitSynced blocks until all added informers are synced, and then returns nil. If Run stops first, WaitSynced returns
// Run's error. If ctx is done first, it returns context.Cause(ctx). It may be called before Run.
func (g *Group) WaitSynced(ctx context.Context) error {
	g.mu.Lock()
	members, run := g.members, g.run()
	g.mu.Unlock()
	return waitSynced(ctx, members, run)
}

// States iterates over the names and the states of all informers, in the order in which they were added.
func (g *Group) States() iter.Seq2[string, lw.State] {
	return func(yield func(string, lw.State) bool) {
		g.mu.Lock()
		members := g.members
		g.mu.Unlock()
		for _, m := range members {
			if !yield(m.name, m.State()) {
				return
			}
		}
	}
}

// waitSynced blocks until all members are synced. It returns an error if ctx is done or the run stops first. run may be
// nil.
func waitSynced(ctx context.Context, members []member, run *groupRun) error {
	var stopped chan struct{}
	if run != nil {
		stopped = run.done
	}
	for _, m := range members {
		if isClosed(m.Synced()) {
			continue // a synced member counts even if ctx is done or the run has ended
		}
		select {
		case <-m.Synced():
		case <-stopped:
			return run.cause
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// run returns the current groupRun, or creates the groupRun of the next Run. The caller must hold the lock.
func (g *Group) run() *groupRun {
	if g.current == nil {
		g.current = &groupRun{done: make(chan struct{})}
	}
	return g.current
}

func (g *Group) start() ([]member, *groupRun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running {
		panic("cache: Group.Run called before the previous Run returned")
	}
	g.running = true
	if run := g.run(); isClosed(run.done) {
		g.current = nil
	}
	return g.members, g.run()
}

func (g *Group) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = false
}

// errEnded is the error of a member whose Run returned nil, although Run must return the cause.
var errEnded = errors.New("Run returned nil before its context was done")

// memberError adds an informer's name to its error.
type memberError struct {
	name string
	err  error
}

func (e *memberError) Error() string { return "cache: " + e.name + ": " + e.err.Error() }
func (e *memberError) Unwrap() error { return e.err }
