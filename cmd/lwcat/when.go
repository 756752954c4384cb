package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// when it begins and ends.
type when struct {
	once      bool
	watchOnly bool
	from      string
	resume    string
	count     int
	timeout   time.Duration
	until     string
	condition *condition.Condition
	given     *pflag.FlagSet
}

func (w *when) flags(set *pflag.FlagSet) {
	w.given = set
	set.BoolVar(&w.once, "once", false, "list, print, exit")
	set.BoolVar(&w.watchOnly, "watch-only", false, "do not print what is there already")
	set.StringVar(&w.from, "from", "", "begin with what happened after resource version `RV`, without a list")
	set.StringVar(&w.resume, "resume", "", "begin where the run before with the same `FILE` ended, and update it")
	set.IntVar(&w.count, "count", 0, "exit after `N` events")
	set.DurationVar(&w.timeout, "timeout", 0, "exit after `TIME`, as 30s or 5m: with 3 if --until, --count or --once waits still, else with 0")
	set.StringVar(&w.until, "until", "", "exit when `EXPR` holds, as status.phase=Running, condition=Ready, \"all spec.replicas>1\", exists or deleted")
}

func (w *when) validate() (err error) {
	switch {
	case w.count <= 0 && w.given.Changed("count"):
		return fmt.Errorf("--count must be at least 1, and is %d", w.count)
	case w.timeout <= 0 && w.given.Changed("timeout"):
		return fmt.Errorf("--timeout must be above zero, and is %v", w.timeout)
	case w.from != "" && w.resume != "":
		return errors.New("--from and --resume both say where to begin: leave one of them out")
	case w.once && (w.from != "" || w.watchOnly):
		return errors.New("--once prints what is there, which --from and --watch-only leave out")
	case w.until == "" && w.given.Changed("until"):
		return errors.New("--until is empty: it is a condition, as status.phase=Running")
	case w.from == "" && w.given.Changed("from"):
		return errors.New("--from is empty: it is a resource version")
	case w.resume == "" && w.given.Changed("resume"):
		return errors.New("--resume is empty: it is a file")
	case w.from == "0":
		return errors.New("--from 0 stands for no version in particular: leave it out to begin with a list")
	}
	if w.until != "" {
		w.condition, err = condition.Parse(w.until)
	}
	return err
}

// What ends the program besides errors.
var (
	errDone    = errors.New("what was waited for came")
	errCounted = errors.New("so many events were printed")
	errTimeout = errors.New("the time was over")
)

// deadline returns a context that ends when --timeout says so.
func (w *when) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, w.timeout, errTimeout)
}

// awaits reports whether something is waited for, which has not come when the time is over.
func (w *when) awaits() bool { return w.until != "" || w.count > 0 }

// awaited says what that is.
func (w *when) awaited() string {
	if w.condition != nil {
		return w.condition.String()
	}
	return fmt.Sprintf("event number %d", w.count)
}

// ending decides, for all streams together, which events are the last.
type ending struct {
	mu      sync.Mutex
	left    int // events to be printed; below zero: any number
	watcher *condition.Watcher
	over    bool
}

func newEnding(w *when, collections int) *ending {
	e := &ending{left: -1}
	if w.count > 0 {
		e.left = w.count
	}
	if w.condition != nil {
		e.watcher = w.condition.Watch(collections)
	}
	return e
}

// see tells of events, which count if they are printed. It returns those that are not too many, and whether they are the last.
func (e *ending) see(collection int, events []output.Event, counts bool) (seen []output.Event, last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range events {
		if e.over || e.left == 0 {
			break
		}
		if seen = events[:i+1]; counts {
			e.left--
		}
		e.watch(collection, &events[i])
	}
	return seen, e.over || e.left == 0
}

func (e *ending) watch(collection int, event *output.Event) {
	if e.watcher == nil {
		return
	}
	if event.Type == lw.Deleted {
		e.watcher.Delete(collection, event.Object)
	} else {
		e.watcher.Put(collection, event.Object, event.Type == lw.Added)
	}
	e.over = e.over || e.watcher.Holds()
}

// reason says why it is over.
func (e *ending) reason() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return errDone
	}
	return errCounted
}

// complete tells that a collection's first list is complete, and returns whether that was the last to wait for.
func (e *ending) complete() (last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watcher != nil {
		e.watcher.Complete()
		e.over = e.over || e.watcher.Holds()
	}
	return e.over
}
