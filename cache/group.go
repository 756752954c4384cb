package cache

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Group starts several informers, waits until all are synced, runs workers, and stops the workers before the informers.
// Informers can be added and removed while the group runs. The zero value is an empty group. A Group must not be copied.
// All methods may be called concurrently, but only one Run may be active at a time.
type Group struct {
	mu      sync.Mutex
	members []*member     // Remove changes a copy, because readers use the slice without the lock
	running bool          // from the start to the end of Run
	start   func(*member) // starts an informer; nil while no informer may start
	runs    runs          // lets WaitSynced wait for the end of a run
}

// member is an informer of a group.
type member struct {
	name string
	runner
	removed chan struct{} // closed when Remove is called
	stop    func()        // ends the informer's current or last run, and waits until it has ended
}

// runner declares the [Informer] methods that a group calls.
type runner interface {
	Run(ctx context.Context) error
	Synced() <-chan struct{}
	State() lw.State
}

// Add adds an [Informer], or another type with the same three methods. Run must block until ctx is done or the informer
// fails permanently, and return the cause. Synced must return a channel that is closed when the first list is complete.
// If the informer fails, the error of Group.Run contains name. If the group is running, Add starts the informer
// immediately.
func (g *Group) Add(name string, informer interface {
	Run(ctx context.Context) error
	Synced() <-chan struct{}
	State() lw.State
}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := &member{name: name, runner: informer, removed: make(chan struct{}), stop: func() {}}
	g.members = append(g.members, m)
	if g.start != nil {
		g.start(m)
	}
}

// Remove removes the informers with this name. If the group is running, Remove stops these informers and waits until
// their Run methods have returned. Afterwards, none of their handlers is being called. Their errors do not stop the
// group. A handler must not remove its own informer, because Remove would wait for the handler. An unknown name has no
// effect.
func (g *Group) Remove(name string) {
	g.mu.Lock()
	var gone []*member
	g.members = slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool {
		if m.name == name {
			gone = append(gone, m)
			close(m.removed)
		}
		return m.name == name
	})
	g.mu.Unlock()
	for _, m := range gone {
		m.stop()
	}
}

// Run runs all informers. When all are synced, it starts each worker in a goroutine. Informers that are added later do
// not pause the workers.
//
// Run stops when ctx is done, an informer fails permanently, or a worker returns an error. An informer fails
// permanently if its Options.StopOn returns true or it exceeds its LimitObjects. To stop, Run first cancels the context
// of the workers and waits for them. Then it ends all streams and waits until the handler calls in progress return. A
// worker can therefore still read current stores while it finishes.
//
// When Run returns, all its goroutines have ended and no handler is being called. A program that has lost a leader
// election can then release its lease. Handlers do not receive the changes that are still queued. A later Run resumes
// from the stores and delivers them.
//
// Run returns context.Cause(ctx), the worker's error, or the informer's error with its name. Run panics if the previous
// Run has not returned.
func (g *Group) Run(ctx context.Context, workers ...func(context.Context) error) error {
	working, fail := context.WithCancelCause(ctx) // context of the workers; when it is canceled, the run ends
	defer fail(nil)
	// The context of the streams must outlive the workers, which may still read the stores.
	streaming, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var streams, jobs sync.WaitGroup
	current := g.begin(working, func(m *member) {
		ctx, stop := context.WithCancel(streaming)
		idle := make(chan struct{})
		m.stop = func() {
			stop()
			<-idle
		}
		streams.Go(func() {
			defer close(idle)
			// An error of a removed informer does not stop the group. If the run is already ending, fail has no effect.
			if err := m.Run(ctx); !isClosed(m.removed) {
				err = cmp.Or(err, errEnded)
				fail(&wrapped{"cache: " + m.name + ": " + err.Error(), err})
			}
		})
	})
	defer g.end()
	if g.waitSynced(working, current) == nil && working.Err() == nil { // if all are synced, waitSynced ignores working
		for _, work := range workers {
			jobs.Go(func() {
				if err := work(working); err != nil {
					fail(err)
				}
			})
		}
	}
	<-working.Done()
	g.mu.Lock()
	g.start = nil // an informer that is added from now on starts in the next run
	g.mu.Unlock()
	current.end(context.Cause(working)) // before the workers end, because one of them may be blocked in WaitSynced
	jobs.Wait()
	stop()
	streams.Wait()
	return current.err
}

// begin starts all informers unless ctx is done. It also stores start, so that Add can start informers later.
func (g *Group) begin(ctx context.Context, start func(*member)) *run {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running {
		panic("cache: Group.Run called before the previous Run returned")
	}
	g.running = true
	if ctx.Err() == nil {
		g.start = start
		for _, m := range g.members {
			start(m)
		}
	}
	return g.runs.last(true) // creates a new run if the last one has ended
}

func (g *Group) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = false
}

// WaitSynced blocks until all informers are synced, and then returns nil. It also waits for informers that are added in
// the meantime, but not for removed ones. If Run stops first, WaitSynced returns Run's error. If ctx is done first, it
// returns context.Cause(ctx). It may be called before the first Run. If it is called between two runs and some
// informers are not synced, it returns the last Run's error.
func (g *Group) WaitSynced(ctx context.Context) error {
	return g.waitSynced(ctx, g.runs.last(false))
}

// waitSynced waits for one unsynced informer after the other. It ends when none of the current members is unsynced.
func (g *Group) waitSynced(ctx context.Context, current *run) error {
	for {
		members := g.all()
		i := slices.IndexFunc(members, func(m *member) bool { return !isClosed(m.Synced()) })
		if i < 0 {
			return nil
		}
		if err := current.wait(ctx, members[i].Synced(), members[i].removed); err != nil {
			return err
		}
	}
}

func (g *Group) all() []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.members
}

// States iterates over the names and the states of all informers, in the order in which they were added.
func (g *Group) States() iter.Seq2[string, lw.State] {
	return func(yield func(string, lw.State) bool) {
		for _, m := range g.all() {
			if !yield(m.name, m.State()) {
				return
			}
		}
	}
}

// errEnded is the error of a member whose Run returned nil before its context was done.
var errEnded = errors.New("Run returned nil before its context was done")

// wrapped is an error with its own message that matches another error. Package fmt, which could also build it, would make
// the WASM module larger.
type wrapped struct {
	message string
	cause   error
}

func (e *wrapped) Error() string { return e.message }
func (e *wrapped) Unwrap() error { return e.cause }
