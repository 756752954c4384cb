package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// rangeOptions select where the output starts and ends.
type rangeOptions struct {
	once      bool   // exit after the list
	watch     bool   // value of --watch; "lwcat get" lists once without it
	watchOnly bool   // do not print the existing objects
	from      string // resourceVersion at which the run starts
	resume    string // path of the resume file
	count     int    // number of events after which the run ends; 0 means no limit
	timeout   time.Duration
	until     []string
	types     []string                 // event types to print; empty means all
	verb      string                   // wait or rollout if the command line has kubectl's form, otherwise ""
	quiet     bool                     // whether to print only the result of --until
	set       *pflag.FlagSet           // the parsed flags
	omits     func(*output.Event) bool // whether the format prints nothing for an event; nil if it prints all events

	conditions []*condition.Condition // parsed from until
	watcher    condition.Watcher      // evaluates conditions
}

func (o *rangeOptions) flags(set *pflag.FlagSet) {
	o.set = set
	set.BoolVar(&o.once, "once", false, "list, print, exit")
	set.BoolVarP(&o.watch, "watch", "w", false, "follow changes (the default, except with 'lwcat get')")
	set.BoolVar(&o.watchOnly, "watch-only", false, "print only changes, not the existing objects")
	set.StringVar(&o.from, "from", "", "watch from resourceVersion `RV` instead of listing first")
	set.StringVar(&o.resume, "resume", "", "continue where the previous run with the same `FILE` ended, and update the file")
	set.StringSliceVar(&o.types, "event", nil, "print only events of these `TYPES`: ADDED, MODIFIED or DELETED")
	set.IntVar(&o.count, "count", 0, "exit after `N` events; --max-events is the same")
	set.DurationVar(&o.timeout, "timeout", 0, "exit after `TIME`, for example 30s or 5m; the exit code is 3 if the goal of --until, --count or --once was not reached or the server did not answer, otherwise 0")
	set.StringArrayVar(&o.until, "until", nil, "exit when `CONDITION` holds, for example condition=Ready, rollout, status.phase=Running, \"all spec.replicas>1\" or deleted; may be repeated, and then all conditions must hold; see 'lwcat help until'")
}

func (o *rangeOptions) validate() error {
	switch {
	case o.count <= 0 && o.set.Changed("count"):
		return fmt.Errorf("--count is %d: it must be at least 1", o.count)
	case o.timeout <= 0 && o.set.Changed("timeout") && o.verb == "": // kubectl wait and rollout status accept --timeout=0
		return fmt.Errorf("--timeout is %v: it must be greater than zero", o.timeout)
	case o.resume != "" && o.set.Changed("where"):
		return errors.New("--resume does not save the fields for --where: use a selector, or omit --resume")
	case o.from != "" && o.resume != "":
		return errors.New("--from and --resume both set the starting point: use only one of them")
	case o.once && (o.from != "" || o.watchOnly):
		return errors.New("--once prints the existing objects, but --from and --watch-only omit them: do not combine these flags")
	case o.set.Changed("from") && !versionPattern.MatchString(o.from):
		return fmt.Errorf("--from is %q: expected a resourceVersion such as 12345; omit --from to start with a list", o.from)
	}
	for i, name := range o.types {
		if o.types[i] = strings.ToUpper(name); !slices.Contains([]string{"ADDED", "MODIFIED", "DELETED"}, o.types[i]) {
			return fmt.Errorf("--event is %q: expected ADDED, MODIFIED or DELETED", name)
		}
	}
	for _, text := range o.until {
		parsed, err := condition.Parse(text)
		if err != nil {
			return fmt.Errorf("%w (see 'lwcat help until')", err)
		}
		if o.from != "" && parsed.NeedsAll() {
			return fmt.Errorf("--until %q depends on all objects, but --from omits the existing ones: remove --from", text)
		}
		o.conditions = append(o.conditions, parsed)
	}
	return nil
}

// versionPattern matches resourceVersions, except 0, which means any resourceVersion.
var versionPattern = regexp.MustCompile(`^[1-9][0-9]*$`)

// These errors report that --until, --count or --timeout ended the run. Runs without a goal also end with errDone when
// they are complete, for example "lwcat api-resources".
var (
	errDone    = errors.New("the condition was met")
	errCounted = errors.New("the number of events in --count was printed")
	errTimeout = errors.New("timed out")
)

// hasGoal reports whether --until or --count sets a goal for the run. If the run ends earlier, it fails.
func (o *rangeOptions) hasGoal() bool { return len(o.until) > 0 || o.count > 0 }

// goal describes what must happen before the run may end, or returns "" if it may end at any time.
func (o *rangeOptions) goal() string {
	switch {
	case len(o.until) > 0:
		return strings.Join(o.until, " and ")
	case o.count > 0:
		return fmt.Sprintf("event number %d", o.count)
	case o.once:
		return "the end of the list"
	}
	return ""
}

// limiter ends the output of all streams when --until or --count is met.
type limiter struct {
	*rangeOptions
	mu        sync.Mutex // streams call the limiter concurrently
	remaining int        // number of events still to print; negative means no limit
	done      bool       // whether --until is met
	failed    error      // error if --until can no longer be met
}

func newLimiter(o *rangeOptions, collections int) *limiter {
	o.watcher = *condition.Watch(o.conditions, collections)
	return &limiter{rangeOptions: o, remaining: cmp.Or(o.count, -1)}
}

// shows reports whether --event selects an event.
func (o *rangeOptions) shows(e *output.Event) bool {
	return len(o.types) == 0 || slices.Contains(o.types, e.Type.String())
}

// take accepts events until --count or --until ends the output. It returns the accepted events, and whether the
// last of them ends the run. If hidden is true, the events are not printed. --count counts only printed events, but
// --until also needs events that are hidden or that --event excludes, because it depends on the objects' state.
func (l *limiter) take(collection string, events []output.Event, hidden bool) (seen []output.Event, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range events {
		if l.ended() {
			break
		}
		seen = events[:i+1]
		e := &events[i]
		if l.remaining > 0 && !hidden && l.shows(e) && (l.omits == nil || !l.omits(e)) {
			l.remaining--
		}
		if e.Type == lw.Deleted {
			l.watcher.Delete(collection, e.Object)
		} else {
			l.failed = l.watcher.Put(collection, e.Object)
		}
		l.done = l.watcher.Holds()
	}
	return seen, l.ended()
}

// results returns a line for each object that meets --until, like kubectl wait and kubectl rollout status.
func (l *limiter) results() (text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.done {
		return ""
	}
	for _, o := range l.watcher.Results() {
		if l.verb == "rollout" {
			text += fmt.Sprintf("%s %q successfully rolled out\n", strings.ReplaceAll(strings.ToLower(o.Kind()), "daemonset", "daemon set"), o.GetName())
		} else {
			text += output.Plain(output.Name(o)+" condition met") + "\n"
		}
	}
	return text
}

// restore records an object that an earlier run printed and that may have been deleted since.
func (l *limiter) restore(collection string, o *lw.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watcher.Restore(collection, o)
}

// ended reports whether no further events may be printed. The caller must hold the lock.
func (l *limiter) ended() bool { return l.done || l.failed != nil || l.remaining == 0 }

// reason returns the error that ends the run after the last event.
func (l *limiter) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.failed != nil:
		return fmt.Errorf("--until: %w", l.failed)
	case l.done:
		return errDone
	}
	return errCounted
}

// listed records that a collection's first list is complete. It returns true if --until is met.
func (l *limiter) listed() (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watcher.Complete()
	l.done = l.done || l.watcher.Holds()
	return l.done
}
