package lw

import (
	"cmp"
	"context"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures [ListAndWatch]. The zero value is ready to use.
type Options struct {
	LabelSelector string // for example "app=web,tier!=db"
	FieldSelector string // for example "spec.nodeName=n1"

	// PageSize is the number of objects per page of a list. Zero means 500. A negative value requests all objects in
	// one page.
	PageSize int

	// NoStreamingList disables streaming lists. By default the stream tries a streaming list first, which costs the
	// server less memory than an ordinary list. If the server rejects streaming lists or fails to complete two in a
	// row, all streams of the [Client] fall back to ordinary lists.
	NoStreamingList bool

	// Wake triggers an immediate connection check and ends the current delay. Send a value when the machine or browser
	// tab wakes up, or when the network returns. Even without Wake, the stream checks at least every 5 seconds whether
	// the idle timeout has passed. Each stream needs its own channel. Wake may be nil.
	Wake <-chan struct{}

	// StopOn is called with the cause of every interruption. If it returns true, the sequence ends after the
	// Interrupted event. If StopOn is nil, the stream retries forever. Use [IsPermanent] to end the stream when
	// retrying cannot help.
	StopOn func(cause error) bool

	// Warn receives a warning about each interruption that needs attention. The warning contains the cause, the next
	// request and its delay, and a remedy if there is one. The same cause is logged at most once per minute. Clean closes
	// are not logged, and neither are connection errors of healthy watches that then resume, except [ErrSilent].
	//
	// Keys and values alternate in args, as in log/slog, so you can set Warn to the Warn method of a slog.Logger. If Warn
	// is nil, the stream logs to slog.Default(), or to console.warn in JavaScript. To disable logging, use
	// slog.New(slog.DiscardHandler).Warn.
	Warn func(msg string, args ...any)

	// Random returns numbers in [0, 1) for the jitter of delays and timeouts. Set it to a seeded source to make a
	// simulation or a test repeatable. If Random is nil, the stream uses math/rand/v2.
	Random func() float64

	// Wall returns the time of a clock that also advances while the machine is suspended. Timers do not advance then, so
	// idle timeouts use Wall to detect a connection that broke during the suspension. If Wall is nil, the stream uses
	// time.Now.
	Wall func() time.Time
}

// Held describes the state that the caller of [Resume] already has. The zero value means that the caller has no state.
type Held struct {
	// ResourceVersion is the resourceVersion of the caller's state. The stream starts with a watch from it instead of a
	// list. If Verify is set, the stream first requests one object to check the state. If the resourceVersion has expired,
	// the stream relists. "" and "0" start with a list.
	//
	// If this resourceVersion is newer than the server's, the stream relists at once if Verify is set, and otherwise after
	// about five minutes without events. If it is older but comes from another server, only Verify can detect this. So
	// also save which server it came from, and use the state only with that server.
	ResourceVersion string

	// Verify reports whether the caller's state agrees with the server. The stream calls it before the first watch, and
	// before it resumes a watch after a broken connection or after five minutes without an event or a bookmark, because a
	// rebuilt server may have resourceVersions like those of the old one. The argument `first` is an object that the server
	// returned for the collection, or nil if the collection is empty. If Verify returns false, the stream relists. If
	// Verify is nil, the stream compares only resourceVersions.
	Verify func(first Keyed) bool

	// Lookup returns the object that the caller holds with this key, UID and resourceVersion. A [Client] then yields
	// that object instead of decoding an equal one again, which makes relists cheap. Lookup must not retain its
	// arguments. It may be nil.
	Lookup func(namespace, name, uid, resourceVersion []byte) (object Keyed, ok bool)
}

// ListAndWatch returns an endless sequence of events that describes one collection. It lists the collection, watches
// it, resumes broken watches, and relists if a watch cannot resume. The sequence ends when ctx is done, the caller
// stops iterating, or opts.StopOn returns true. opts may be nil.
//
// If you apply all events in order, you get the state of the collection. The constants of [EventType] describe the
// meaning of each event.
//
// All work happens in the caller's goroutine between two iterations. If the caller is slow, the server may close the
// watch, and the stream then resumes it. The sequence may be iterated several times. Each iteration starts with a list.
func ListAndWatch[T Keyed](ctx context.Context, lw ListerWatcher[T], opts *Options) iter.Seq[Event[T]] {
	return Resume(ctx, lw, Held{}, opts)
}

// Resume is like [ListAndWatch] for a caller that already has a state of the collection, for example from a file. A
// cache.Informer calls it with its store.
func Resume[T Keyed](ctx context.Context, lw ListerWatcher[T], held Held, opts *Options) iter.Seq[Event[T]] {
	if opts == nil {
		opts = &Options{}
	}
	return func(yield func(Event[T]) bool) {
		source := lw.Source()
		if source == nil {
			source = new(Source[T])
		}
		e := engine[T]{
			ctx: ctx, source: lw, opts: opts, held: held, trace: ContextTrace(ctx), yield: yield,
			machine:  newMachine(opts, held.ResourceVersion, held.Verify != nil, source.support()),
			reporter: reporter{warn: opts.Warn, collection: source.Name},
		}
		if e.trace.Stopped != nil {
			defer e.trace.Stopped()
		}
		for ctx.Err() == nil && e.request() {
		}
	}
}

// engine sends the requests that the machine chooses, and yields the resulting events to the caller.
type engine[T Keyed] struct {
	ctx      context.Context
	source   ListerWatcher[T]
	opts     *Options
	machine  *machine
	trace    *Trace
	held     Held
	reporter reporter
	yield    func(Event[T]) bool

	epoch       time.Time // time at which the stream's clock is zero
	listStarted bool      // whether ListStarted was yielded since the last interruption
	live        bool      // whether WatchStarted was yielded since the last interruption
	done        bool      // whether the caller stopped iterating or ctx is done

	// The request in progress.
	objects   int  // number of objects on the unfinished page
	receiving bool // whether the request failed in the middle of an object; see machine.afterStreamingList
}

// request makes one request and handles its response. It returns false when the sequence is over.
func (e *engine[T]) request() bool {
	var err error
	switch e.objects, e.receiving = 0, false; e.machine.state {
	case listing, checking:
		err = e.list()
	case streaming, watching:
		err = e.watch()
	case stopped:
		return false
	}
	switch {
	case e.done || e.ctx.Err() != nil:
		return false
	case err == nil:
		return true
	}
	return e.interrupt(err)
}

// interrupt yields the interruption that err causes, and waits for its delay. It returns false if the sequence is over.
// It must not be inlined, because its stack frame would then be part of the stack of an idle watch.
//
//go:noinline
func (e *engine[T]) interrupt(err error) bool {
	now := e.now()
	result, attention := e.machine.fail(now, err, e.objects, e.receiving)
	if attention {
		e.reporter.report(result, now)
	}
	e.listStarted, e.live = false, false
	return e.send(Event[T]{Type: Interrupted, ResourceVersion: e.machine.version, Interruption: result}) && e.wait(result.Delay)
}

// list reads one page of a list. In the state `checking`, it only compares the page with the caller's state.
func (e *engine[T]) list() error {
	check := e.machine.state == checking
	opts, ctx, dog := e.open()
	defer dog.stop()
	page := e.source.List(ctx, opts)
	var r response
	var err error
	for object, failure := range page.Objects {
		event := Event[T]{Type: Added, Object: object}
		if failure != nil && !event.decodeFailed(failure) {
			err = failure
			break
		}
		dog.pause()
		if e.objects++; e.objects == 1 {
			if event.Err != nil {
				r.start = event.Err.Key
			} else {
				r.start, r.first = KeyOf(object), object.GetResourceVersion()
				r.refuted = check && e.held.Verify != nil && !e.held.Verify(object)
			}
		}
		if !check && !(e.startList() && e.send(event)) {
			return nil
		}
		dog.resume(e.machine.idle())
	}
	if err = causeOf(ctx, err); err != nil {
		return err
	}
	if e.trace.Page != nil {
		e.trace.Page(page.ListMeta)
	}
	if check && e.objects == 0 && page.Continue == "" && e.held.Verify != nil { // only the last page can show an empty collection
		r.refuted = !e.held.Verify(nil)
	}
	r.version, r.token, r.objects, e.objects = page.ResourceVersion, page.Continue, e.objects, 0 // the page is finished
	meaning, err := e.machine.event(e.now(), &r)
	if meaning == complete {
		e.endList()
	}
	return err
}

// watch makes one watch request, which may begin with a streaming list. It returns ErrWatchClosed after a clean close.
// A program may have thousands of idle watches, so their stacks must stay small. A goroutine's stack doubles when it is
// full. Therefore, watch leaves all work that needs a large stack frame to functions that return before the next read.
func (e *engine[T]) watch() error {
	opts, ctx, dog := e.open()
	defer dog.stop()
	for event, err := range e.source.Watch(ctx, opts) {
		if goesOn, err := e.receive(&event, err, ctx, dog); !goesOn {
			return err
		}
	}
	if err := causeOf(ctx, nil); err != nil {
		return err
	}
	return ErrWatchClosed
}

// open prepares the next request. The caller must stop the watchdog, which cancels the context of an idle request.
//
//go:noinline
func (e *engine[T]) open() (ListOptions, context.Context, *watchdog) {
	opts := e.machine.next(e.now())
	ctx, dog := guard(e.ctx, e.machine.idle(), e.opts.Wake, e.opts.Wall)
	opts.progress, opts.replaces = dog.progress, e.machine.version != "" // with a version, the caller has objects of an earlier list or of Held
	opts.lookup, opts.holder = e.held.Lookup, e.source
	opts.charge = func() { e.machine.policy.spend(e.now()) }
	return opts, ctx, dog
}

// receive handles an event or an error from a watch. It returns goesOn == false if the request or the sequence is over.
//
//go:noinline
func (e *engine[T]) receive(event *Event[T], failure error, ctx context.Context, dog *watchdog) (goesOn bool, err error) {
	r := response{event: event.Type, version: event.ResourceVersion, receiving: dog.receivingFor()}
	if failure != nil && !event.decodeFailed(failure) {
		e.receiving = r.receiving > 0
		return false, causeOf(ctx, failure)
	}
	// Only the stream itself yields the other types. An event of type DecodeFailed needs an error.
	if r.event = event.Type; r.event < Added || r.event > WatchStarted || r.event == DecodeFailed && event.Err == nil {
		return false, errEventType
	}
	dog.pause()
	before, now := e.machine.version, e.now()
	meaning, err := e.machine.event(now, &r)
	if err != nil || meaning == over || !e.deliver(event, meaning, before) {
		return false, err
	}
	e.machine.heard += e.now() - now // the time that the caller needed for the event does not count
	dog.resume(e.machine.idle())
	return true, nil
}

// deliver yields a watch event to the caller. If the event begins or ends a list or begins a watch, deliver also yields
// ListStarted, Synced or WatchStarted. `before` is the stream's resourceVersion before the event. deliver returns false
// if the sequence is over.
func (e *engine[T]) deliver(event *Event[T], meaning meaning, before string) bool {
	switch meaning {
	case listed:
		event.ResourceVersion = "" // the resourceVersion of the list applies only after its last object
		return e.startList() && e.send(*event)
	case complete:
		return e.endList() && e.startWatch(e.machine.version)
	case live:
		if event.Type == WatchStarted {
			return e.startWatch(e.machine.version)
		}
		if event.Type == Synced {
			event.Type = Bookmark
		}
		event.ResourceVersion = e.machine.version
		return e.startWatch(before) && e.send(*event)
	}
	return true
}

// startList yields ListStarted before the first object of a list. It returns false if the sequence is over.
func (e *engine[T]) startList() bool { return e.once(&e.listStarted, ListStarted, "") }

// endList yields Synced at the end of a list. It returns false if the sequence is over.
func (e *engine[T]) endList() bool {
	return e.startList() && e.send(Event[T]{Type: Synced, ResourceVersion: e.machine.version})
}

// startWatch yields WatchStarted before the first event of a watch. It returns false if the sequence is over.
func (e *engine[T]) startWatch(version string) bool { return e.once(&e.live, WatchStarted, version) }

// once yields an event and sets *sent. If *sent is already set, once does nothing. It returns false if the sequence is
// over.
func (e *engine[T]) once(sent *bool, t EventType, version string) bool {
	if *sent {
		return true
	}
	*sent = true
	return e.send(Event[T]{Type: t, ResourceVersion: version})
}

// send yields an event. It returns false if the sequence is over.
func (e *engine[T]) send(event Event[T]) bool {
	if e.trace.Event != nil {
		untyped := Event[Keyed]{Type: event.Type, ResourceVersion: event.ResourceVersion, Interruption: event.Interruption, Err: event.Err}
		if event.Type >= Added && event.Type <= Deleted {
			untyped.Object = event.Object
		}
		e.trace.Event(untyped)
	}
	e.done = e.done || e.ctx.Err() != nil || !e.yield(event)
	return !e.done
}

// causeOf returns context.Cause(ctx) if ctx is done, and otherwise err. A source may return only context.Canceled,
// which hides the cause, for example ErrSilent. A source may also end without an error when ctx is done. In that case,
// an incomplete list must not count as complete.
func causeOf(ctx context.Context, err error) error { return cmp.Or(context.Cause(ctx), err) }

// now returns the time on the stream's clock.
func (e *engine[T]) now() moment {
	now := time.Now()
	if e.epoch.IsZero() {
		e.epoch = now.Add(-time.Second)
	}
	return now.Sub(e.epoch)
}

// wait blocks for a delay. It returns false if ctx is done before the delay ends. A value on opts.Wake ends the delay
// early.
func (e *engine[T]) wait(delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	wake := e.opts.Wake
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-e.ctx.Done():
			return false
		case _, open := <-wake:
			if open {
				return true
			}
			wake = nil // a closed channel would otherwise end every delay
		}
	}
}

// maxInterval is the maximum time between two checks of the watchdog. An idle request ends at most this long after its
// idle timeout, or after the computer wakes from sleep.
const maxInterval = 5 * time.Second

// paused is the idle timeout while the caller handles an event. It never passes.
const paused = math.MaxInt64

// watchdog cancels the context of a request with ErrSilent after the idle timeout. The time that the caller needs to
// handle an event does not count. The watchdog reads two clocks and uses the larger elapsed time, because the monotonic
// clock stops while the machine sleeps, and the wall clock may be set back.
type watchdog struct {
	cancel context.CancelCauseFunc
	start  time.Time
	wall   func() time.Time // nil means the wall clock of time.Now

	// receiving is the time since start at which the first part of an unfinished object arrived, or zero. Only the
	// stream's goroutine uses it. The goroutines that call check read the atomic fields.
	receiving time.Duration
	monotonic atomic.Int64 // time since start at which data last arrived, in nanoseconds
	walltime  atomic.Int64 // when data last arrived on the wall clock, in nanoseconds since 1970
	limit     atomic.Int64 // idle timeout, paused while the caller handles an event, or zero if stopped

	listening sync.WaitGroup // waits for the goroutine that runs listen; without a channel for wake-ups there is none

	mu    sync.Mutex // held by check and stop, so that check never restarts a stopped timer
	timer *time.Timer
}

// guard returns a context for a request, and a watchdog that cancels the context if the request is idle for longer than
// limit. The caller must stop the watchdog. A value on the channel wake triggers an immediate check. wake and wall may
// be nil.
func guard(ctx context.Context, limit time.Duration, wake <-chan struct{}, wall func() time.Time) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	// The start is in the past, so that no time since the start is zero. A zero in `receiving` means that no object is
	// arriving.
	d := &watchdog{cancel: cancel, start: time.Now().Add(-1), wall: wall}
	d.resume(limit)
	d.mu.Lock() // because the timer may fire before d.timer is set
	d.timer = time.AfterFunc(d.interval(), d.check)
	d.mu.Unlock()
	if wake != nil {
		d.listening.Go(func() { d.listen(ctx, wake) })
	}
	return ctx, d
}

// stop ends the watchdog. It waits until listen has returned, because listen could otherwise take a wake-up that is
// meant for the next delay.
func (d *watchdog) stop() {
	d.mu.Lock()
	d.timer.Stop()
	d.limit.Store(0)
	d.mu.Unlock()
	d.cancel(nil)
	d.listening.Wait()
}

// clocks returns the time since start on the monotonic clock, and the time on the wall clock in nanoseconds since 1970.
func (d *watchdog) clocks() (monotonic, walltime int64) {
	now := time.Now()
	wall := now
	if d.wall != nil {
		wall = d.wall()
	}
	return int64(now.Sub(d.start)), wall.UnixNano()
}

// heard records that data has arrived.
func (d *watchdog) heard() (monotonic time.Duration) {
	m, w := d.clocks()
	d.monotonic.Store(m)
	d.walltime.Store(w)
	return time.Duration(m)
}

// progress restarts the idle timeout, because a part of an object has arrived. While an object arrives, the idle
// timeout is at least that of a list. The short timeout of a streaming list would cut off a slow connection in the
// middle of a large object.
func (d *watchdog) progress() {
	if now := d.heard(); d.receiving == 0 {
		d.receiving = now
	}
	d.limit.Store(max(d.limit.Load(), int64(idleRequest)))
}

// receivingFor returns how long the current object has been arriving, or zero if it arrived at once.
func (d *watchdog) receivingFor() time.Duration {
	if d.receiving == 0 {
		return 0
	}
	return time.Since(d.start) - d.receiving
}

// pause suspends the idle timeout while the caller handles an event, and resume restarts it. Both methods run for every
// event, so they do not lock.
func (d *watchdog) pause() { d.limit.Store(paused) }

func (d *watchdog) resume(limit time.Duration) {
	d.receiving = 0
	d.heard()
	d.limit.Store(int64(limit)) // must be the last statement, because check reads limit first
}

// interval returns the time until the next check. It is at most a quarter of the idle timeout, so that a request with a
// short timeout does not end much too late.
func (d *watchdog) interval() time.Duration {
	return min(time.Duration(d.limit.Load())/4, maxInterval)
}

// check cancels the request if the idle timeout has passed. Otherwise it schedules the next check.
func (d *watchdog) check() {
	d.mu.Lock()
	defer d.mu.Unlock()
	limit := d.limit.Load()
	if limit == 0 {
		return
	}
	monotonic, walltime := d.clocks()
	if max(monotonic-d.monotonic.Load(), walltime-d.walltime.Load()) >= limit {
		d.cancel(ErrSilent)
		return
	}
	d.timer.Reset(d.interval())
}

// listen calls check at once for each value on wake, because the timer may be late after the computer has slept.
func (d *watchdog) listen(ctx context.Context, wake <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-wake:
			if !open {
				return
			}
			d.check()
		}
	}
}
