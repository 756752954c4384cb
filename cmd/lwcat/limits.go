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

// rangeOptions select where the output starts and when it ends.
type rangeOptions struct {
	once      bool
	watchOnly bool
	from      string
	resume    string
	count     int
	timeout   time.Duration
	until     string
	condition *condition.Condition
	set       *pflag.FlagSet // the parsed flags
}

func (o *rangeOptions) flags(set *pflag.FlagSet) {
	o.set = set
	set.BoolVar(&o.once, "once", false, "list, print, exit")
	set.BoolVar(&o.watchOnly, "watch-only", false, "do not print what is there already")
	set.StringVar(&o.from, "from", "", "begin with what happened after resource version `RV`, without a list")
	set.StringVar(&o.resume, "resume", "", "begin where the run before with the same `FILE` ended, and update it")
	set.IntVar(&o.count, "count", 0, "exit after `N` events")
	set.DurationVar(&o.timeout, "timeout", 0, "exit after `TIME`, as 30s or 5m: with 3 if --until, --count or --once waits still, else with 0")
	set.StringVar(&o.until, "until", "", "exit when `EXPR` holds, as status.phase=Running, condition=Ready, \"all spec.replicas>1\", exists or deleted")
}

func (o *rangeOptions) validate() (err error) {
	switch {
	case o.count <= 0 && o.set.Changed("count"):
		return fmt.Errorf("--count must be at least 1, and is %d", o.count)
	case o.timeout <= 0 && o.set.Changed("timeout"):
		return fmt.Errorf("--timeout must be above zero, and is %v", o.timeout)
	case o.from != "" && o.resume != "":
		return errors.New("--from and --resume both say where to begin: leave one of them out")
	case o.once && (o.from != "" || o.watchOnly):
		return errors.New("--once prints what is there, which --from and --watch-only leave out")
	case o.until == "" && o.set.Changed("until"):
		return errors.New("--until is empty: it is a condition, as status.phase=Running")
	case o.from == "" && o.set.Changed("from"):
		return errors.New("--from is empty: it is a resource version")
	case o.resume == "" && o.set.Changed("resume"):
		return errors.New("--resume is empty: it is a file")
	case o.from == "0":
		return errors.New("--from 0 stands for no version in particular: leave it out to begin with a list")
	}
	if o.until != "" {
		o.condition, err = condition.Parse(o.until)
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
func (o *rangeOptions) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, o.timeout, errTimeout)
}

// hasGoal reports whether --until or --count must be met before --timeout.
func (o *rangeOptions) hasGoal() bool { return o.until != "" || o.count > 0 }

// goal describes the event that --timeout waits for.
func (o *rangeOptions) goal() string {
	if o.condition != nil {
		return o.condition.String()
	}
	return fmt.Sprintf("event number %d", o.count)
}

// limiter decides for all streams together which event is the last one.
type limiter struct {
	mu        sync.Mutex
	remaining int // events to print; negative means no limit
	watcher   *condition.Watcher
	done      bool // --until is met
}

func newLimiter(o *rangeOptions, collections int) *limiter {
	l := &limiter{remaining: -1}
	if o.count > 0 {
		l.remaining = o.count
	}
	if o.condition != nil {
		l.watcher = o.condition.Watch(collections)
	}
	return l
}

// take accepts events up to the limit. It returns the accepted events and whether the last one is among them.
func (l *limiter) take(collection int, events []output.Event, counts bool) (seen []output.Event, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range events {
		if l.done || l.remaining == 0 {
			break
		}
		if seen = events[:i+1]; counts {
			l.remaining--
		}
		l.check(collection, &events[i])
	}
	return seen, l.done || l.remaining == 0
}

func (l *limiter) check(collection int, event *output.Event) {
	if l.watcher == nil {
		return
	}
	if event.Type == lw.Deleted {
		l.watcher.Delete(collection, event.Object)
	} else {
		l.watcher.Put(collection, event.Object, event.Type == lw.Added)
	}
	l.done = l.done || l.watcher.Holds()
}

// reason returns the error that ends the program after the last event.
func (l *limiter) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return errDone
	}
	return errCounted
}

// listed records that a collection's first list is complete. It returns true if the program can end.
func (l *limiter) listed() (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watcher != nil {
		l.watcher.Complete()
		l.done = l.done || l.watcher.Holds()
	}
	return l.done
}
