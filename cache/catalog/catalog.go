// Package catalog follows many types of a cluster in one cache. Types may appear and vanish while it runs, for example
// with a CustomResourceDefinition.
//
// A [Catalog] discovers a server's types and follows each type with its own stream. If a type cannot be followed, its
// [Status] contains the cause. Such a type does not delay the others. A [Snapshot] answers queries across types, and
// [Catalog.Changes] yields the changes of all types.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/discovery"
)

// Options configures a [Catalog]. The zero value follows all types with all their fields.
type Options struct {
	// Follow returns the settings for a type, or nil to skip the type. After each discovery, the catalog calls it for each
	// new type, and again for each type that it has skipped or whose settings were invalid. If Follow is nil, the catalog
	// follows all types. Follow must not call the catalog's methods, because the catalog holds its lock during the call.
	Follow func(TypeInfo) *Settings

	// Namespaces lists the namespaces to try if the server forbids listing a type in all namespaces at once. If it is
	// empty, the catalog asks the server for its namespaces and tries each of them.
	Namespaces []string

	// MaxLists limits how many first lists run at the same time. Zero means 4. A list counts only for its first 2
	// seconds, so that large collections do not delay small ones. At most 16 lists run at the same time, including
	// lists that no longer count. If MaxLists is greater than 16, it replaces this limit.
	MaxLists int

	// MaxBytes limits the size of all objects in memory. If they exceed it, the catalog drops the largest collection
	// that is not [Settings.Required]. The status of this collection is then Unavailable with a *[LimitError] as its
	// cause. Loops over [Catalog.Changes] receive no Deleted changes for it, because the objects still exist. Zero
	// means no limit.
	MaxBytes int64

	// StateDir is a folder where each collection saves its objects every minute, so that it resumes without a list
	// after a restart. Each server needs its own folder. If StateDir is empty, nothing is saved.
	StateDir string

	// Warn receives warnings about interruptions, unusable files and invalid settings. Like Follow, it must not call the
	// catalog's methods. Nil means the default of [lw.Options].
	Warn func(msg string, args ...any)
}

// Settings says how to follow one type. The zero value keeps all objects with all their fields.
type Settings struct {
	LabelSelector string   // for example "app=web,tier!=db"
	FieldSelector string   // for example "spec.nodeName=n1"
	Namespaces    []string // follow only these namespaces, if the type is namespaced; nil means all
	Fields        []string // paths of the fields to keep, as in lw.Project; nil keeps all except managedFields
	MetadataOnly  bool     // request only the metadata of each object
	Required      bool     // never drop the collection because of Options.MaxBytes

	// hidden omits the type from all results, because Follow skips it or Remove has removed it, and only discovery needs
	// it.
	hidden bool

	// Pack converts an object to the form in which it stays in memory. For example, compact.NewPacker compresses
	// objects. All types with the same packer share a compressor, which needs about 1 MB. Nil keeps the object's JSON
	// text.
	Pack func(*lw.Object) Packed
}

// LimitError is the cause of a collection that was dropped because of [Options.MaxBytes].
type LimitError struct {
	Type         Type
	Bytes, Limit int64 // size of the dropped objects, and Options.MaxBytes
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the %d bytes of %s were dropped, because all objects together exceed the limit of %d bytes: follow fewer types or fields, or raise Options.MaxBytes", e.Bytes, e.Type, e.Limit)
}

// errNoType is the cause of the state Gone.
var errNoType = errors.New("the server does not have this type")

const (
	// All streams share this request budget, because a catalog may start hundreds of streams at once.
	requestsPerSecond = 50
	requestBurst      = 100
	checksPerSecond   = requestsPerSecond / 2 // limit on access checks, so that forbidden namespaces do not delay other requests
	requestTimeout    = 30 * time.Second      // limit on one discovery, one list of the namespaces, and one check of a collection

	maxLists  = 16              // limit on all first lists, including those that Options.MaxLists no longer counts
	shortList = 2 * time.Second // after this time, a list no longer counts towards Options.MaxLists

	// The time between two discoveries depends on how the catalog learns about new types. It is discoverEvery while
	// watches of the definitions report them. It is pollEvery without these watches or after an error, because a request
	// with an ETag costs the server little. It is settleEvery after a sign of a new type.
	discoverEvery = time.Minute
	pollEvery     = 5 * time.Second
	settleEvery   = time.Second
	settleFor     = 15 * time.Second // how long the server's discovery may lag behind its definitions
)

// Catalog follows the types of a server. All methods may be called concurrently.
type Catalog struct {
	opts      Options
	transport lw.Transport
	checks    *rate.Limiter     // delays access checks
	server    lw.Source[Packed] // remembers which features the server supports, so that not every stream has to detect them
	group     cache.Group       // runs the collections
	always    chan struct{}     // always closed; see collection.Synced

	// lists and starting are semaphores. Each first list holds a place in lists until it ends, and a place in starting
	// for at most shortList. See Options.MaxLists.
	lists, starting chan struct{}
	remaining       atomic.Int64 // number of bytes to decode before limit adds up all objects again, which is slow

	// mu guards the following fields. It also guards some fields of each collection, which are marked there.
	mu          sync.Mutex
	discoverer  discovery.Discoverer
	discovery   error             // error of the last discovery
	found       map[Type]TypeInfo // result of the last successful discovery; nil before
	collections map[Type]*collection
	removed     map[Type]bool   // types that Remove has removed, so that discovery does not add them again
	invalid     map[string]bool // errors in the settings that Follow last returned, so that each error is reported only once
	settleUntil time.Time       // until this time, discovery may lag behind a change and is repeated every second
	ended       []*collection   // collections that discover must still remove from the group, which it does without holding the lock
	updated     chan struct{}   // closed and replaced when a status changes, which wakes all waiters
	subscribers map[*subscriber]bool
}

// New returns a catalog of the server behind transport. It sends no requests before Run. opts may be nil.
func New(transport lw.Transport, opts *Options) *Catalog {
	c := &Catalog{
		opts: *cmp.Or(opts, &Options{}), server: lw.Source[Packed]{StreamsLists: true}, checks: rate.NewLimiter(checksPerSecond, requestBurst),
		collections: map[Type]*collection{}, removed: map[Type]bool{}, subscribers: map[*subscriber]bool{},
		updated: make(chan struct{}), always: make(chan struct{}),
	}
	if c.opts.Warn == nil {
		c.opts.Warn = slog.Warn
	}
	if c.opts.Follow == nil {
		c.opts.Follow = func(TypeInfo) *Settings { return &Settings{} }
	}
	c.transport = &paced{transport, rate.NewLimiter(requestsPerSecond, requestBurst)}
	c.starting = make(chan struct{}, cmp.Or(c.opts.MaxLists, 4))
	c.lists = make(chan struct{}, max(cap(c.starting), maxLists))
	close(c.always)
	c.remaining.Store(c.opts.MaxBytes)
	return c
}

// paced delays requests so that all streams together keep to a budget.
type paced struct {
	lw.Transport
	limiter *rate.Limiter
}

// Open implements [lw.Transport].
func (p *paced) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if p.limiter.Wait(ctx) != nil { // if ctx is not done, the request would have to wait longer than its timeout
		return nil, cmp.Or(context.Cause(ctx), lw.ErrSilent)
	}
	return p.Transport.Open(ctx, req)
}

// Run follows the types until ctx is done, and then returns context.Cause(ctx). When Run returns, all its goroutines
// have ended. Another Run resumes from the objects in memory. Run panics if the previous Run has not returned.
func (c *Catalog) Run(ctx context.Context) error { return c.group.Run(ctx, c.discover) }

// locked calls f while it holds the lock.
func (c *Catalog) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// discover runs the catalog's periodic work until ctx is done: discovery, probes of namespaces and removal of
// collections.
func (c *Catalog) discover(ctx context.Context) error {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	for asked := (time.Time{}); ctx.Err() == nil; {
		if time.Since(asked) >= c.pause() {
			asked = time.Now()
			c.ask(ctx)
		}
		var ended []*collection
		c.locked(func() {
			for _, n := range c.collections {
				switch in := n.scope; {
				case n.state == Gone && !n.explicit && !n.queued(): // subscribers have received all deletions
					n.forget()
				case n.restricted() && time.Now().After(n.nextProbe):
					n.nextProbe = time.Now().Add(time.Hour) // prevents a second probe; at its end, the probe sets the actual time
					tasks.Go(func() { n.probe(ctx, in) })
				}
			}
			ended, c.ended = c.ended, nil
		})
		for _, n := range ended { // in the background, because Remove waits until each loop has received the change that is on its way
			tasks.Go(func() { c.group.Remove(n.member()) })
		}
		select {
		case <-ctx.Done():
		case <-time.After(settleEvery):
		}
	}
	return nil
}

// ask asks the server for its types.
func (c *Catalog) ask(ctx context.Context) {
	asking, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	types, err := c.discoverer.Discover(asking, c.transport)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if c.discovery = err; err == nil {
		c.apply(types)
		c.discovery = errors.Join(slices.Collect(maps.Values(types.Missing))...)
	}
	c.broadcast()
}

// pause returns the time between two discoveries. It is short if the catalog does not watch all definitions, because only
// discovery then reveals new types.
func (c *Catalog) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	blind := func(of Type) bool {
		n := c.collections[of]
		return n == nil || n.state != Live || n.settings.LabelSelector+n.settings.FieldSelector != ""
	}
	switch {
	case time.Now().Before(c.settleUntil):
		return 0
	case c.discovery != nil || slices.ContainsFunc(definitions, blind):
		return pollEvery
	}
	return discoverEvery
}

// definitions contains the types whose objects define other types. The catalog always follows them.
var definitions = []Type{
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
	{Group: "apiregistration.k8s.io", Resource: "apiservices"},
}

// redefined starts repeated discovery after an event for a definition, because the server's types may have changed too.
// In the first list of definitions, only a definition of an unknown type shows that something has changed.
func (c *Catalog) redefined(n *collection, event lw.Event[Packed]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	plural, group, _ := strings.Cut(event.Object.GetName(), ".")
	_, known := c.found[Type{Group: group, Resource: plural}]
	// Only the name of a CustomResourceDefinition names a type. The name of an APIService is, for example, v1.apps.
	if event.Type != lw.Added || n.synced || !known && n.info.Type == definitions[0] {
		c.settleUntil = time.Now().Add(settleFor)
	}
}

// apply follows newly discovered types, and empties the collections of types that the server no longer has. The caller
// must hold the lock.
func (c *Catalog) apply(types *discovery.Types) {
	c.found = preferred(types)
	reported := c.invalid
	c.invalid = map[string]bool{}
	for of, info := range c.found {
		if n := c.collections[of]; n == nil || n.settings.hidden {
			if settings := c.opts.Follow(info); settings != nil && !c.removed[of] {
				if _, err := c.add(of, *settings); err != nil {
					c.invalid[err.Error()] = true // the text contains the type
					if !reported[err.Error()] {
						c.report(err)
					}
				}
			}
			if c.collections[of] == nil && slices.Contains(definitions, of) {
				_, _ = c.add(of, Settings{MetadataOnly: true, Required: true, hidden: true}) // these settings are valid
			}
		}
		if n := c.collections[of]; n != nil {
			n.discovered(info)
		}
	}
	for of, n := range c.collections {
		if _, ok := c.found[of]; !ok && !mayHave(types, of) && !n.scope.gone {
			n.use(&scope{info: n.info, gone: true})
		}
	}
}

// add adds a collection and subscribes all current Changes loops to it. It replaces a hidden collection of the type,
// unless it returns an error. The caller must hold the lock.
func (c *Catalog) add(of Type, settings Settings) (*collection, error) {
	n, err := c.newCollection(of, settings)
	if err != nil {
		return nil, err
	}
	if hidden := c.collections[of]; hidden != nil {
		hidden.forget()
	}
	c.collections[of] = n
	for s := range c.subscribers {
		s.follow(n)
	}
	c.group.Add(n.member(), n)
	c.broadcast()
	return n, nil
}

// Add follows a type, even if discovery has not found it yet or Options.Follow skips it. settings may be nil. If the
// catalog already follows the type, Add ignores settings. To change them, call Remove first.
func (c *Catalog) Add(of Type, settings *Settings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.collections[of]
	if n == nil || n.settings.hidden {
		var err error
		if n, err = c.add(of, *cmp.Or(settings, &Settings{})); err != nil {
			return err
		}
		c.settleUntil = time.Now().Add(settleFor)
	}
	n.explicit = true
	delete(c.removed, of)
	return nil
}

// Remove stops following a type and drops its objects. Loops over [Catalog.Changes] receive no Deleted changes. Remove
// waits until the stream has ended. Only [Catalog.Add] follows the type again. A loop over Changes may call Remove.
func (c *Catalog) Remove(of Type) {
	c.mu.Lock()
	n := c.collections[of]
	c.removed[of] = true
	if n != nil {
		close(n.removed)
		n.forget()
		// Otherwise, discover could remove it from the group first. The call of group.Remove below would then find nothing
		// and return before the stream has ended.
		c.ended = slices.DeleteFunc(c.ended, func(each *collection) bool { return each == n })
	}
	c.mu.Unlock()
	if n != nil {
		c.group.Remove(n.member())
	}
}

// WaitSynced blocks until each collection is synced or has failed. It returns a *[SyncError] if discovery or some
// collections have failed. If ctx is done first, it returns context.Cause(ctx). It may be called before Run.
func (c *Catalog) WaitSynced(ctx context.Context) error {
	for {
		c.mu.Lock()
		ready, updated := c.found != nil || c.discovery != nil, c.updated
		e := &SyncError{Discovery: c.discovery}
		for _, n := range c.sorted() {
			if ready = ready && !n.pending(); n.failed() {
				e.Failed = append(e.Failed, n.status())
			}
		}
		c.mu.Unlock()
		switch {
		case ready && e.Discovery == nil && e.Failed == nil:
			return nil
		case ready:
			return e
		}
		select {
		case <-updated:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// SyncError names the collections that could not be synced.
type SyncError struct {
	Discovery error    // error of the last discovery, or nil
	Failed    []Status // collections that could not be synced, sorted by name
}

func (e *SyncError) Error() string {
	return "catalog: not synced: " + strings.ReplaceAll(errors.Join(e.Unwrap()...).Error(), "\n", "; ")
}

// Unwrap returns the discovery error, which may be nil, and an error for each failed collection.
func (e *SyncError) Unwrap() []error {
	causes := []error{e.Discovery}
	for _, s := range e.Failed {
		causes = append(causes, fmt.Errorf("%s is %s: %w", s.Type, s.State, s.Cause))
	}
	return causes
}

// sorted returns the collections that are not hidden, in the order of their names. The caller must hold the lock.
func (c *Catalog) sorted() (all []*collection) {
	for _, n := range c.collections {
		if !n.settings.hidden {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *collection) int { return cmp.Compare(a.name, b.name) })
	return all
}

// Statuses returns the status of each collection, sorted by name.
func (c *Catalog) Statuses() (all []Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.sorted() {
		all = append(all, n.status())
	}
	return all
}

// StatusChanges yields the status of each collection, and then yields a status again whenever its State, Cause or
// namespaces change. It ends when ctx is done or the loop exits. A slow reader receives only the latest status of each
// collection.
func (c *Catalog) StatusChanges(ctx context.Context) iter.Seq[Status] {
	return func(yield func(Status) bool) {
		seen := map[*collection]int{} // revision of the last status that the loop has received
		for {
			var changed []Status
			c.mu.Lock()
			updated := c.updated
			// The loop may not have received the last status of a removed collection yet. It comes before the status of the
			// collection that has replaced it.
			var all []*collection
			for n := range seen {
				if c.collections[n.info.Type] != n {
					all = append(all, n)
				}
			}
			for _, n := range append(all, c.sorted()...) {
				if seen[n] != n.revision {
					changed = append(changed, n.status())
				}
				seen[n] = n.revision
			}
			maps.DeleteFunc(seen, func(n *collection, _ int) bool { return c.collections[n.info.Type] != n })
			c.mu.Unlock()
			for _, status := range changed {
				if !yield(status) {
					return
				}
			}
			select {
			case <-updated:
			case <-ctx.Done():
				return
			}
		}
	}
}

// broadcast reports that a status has changed. The caller must hold the lock.
func (c *Catalog) broadcast() {
	close(c.updated)
	c.updated = make(chan struct{})
}

// limit records the size of a decoded object. If all objects together exceed Options.MaxBytes, limit drops the largest
// collection that is not required.
func (c *Catalog) limit(bytes int) {
	if c.opts.MaxBytes == 0 || c.remaining.Add(-int64(bytes)) >= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var total, most int64
	var largest *collection
	for _, n := range c.collections {
		bytes := n.status().Bytes
		total += bytes
		if !n.settings.Required && bytes > most {
			largest, most = n, bytes
		}
	}
	if total > c.opts.MaxBytes && largest != nil {
		c.drop(largest, &LimitError{largest.info.Type, most, c.opts.MaxBytes})
		total -= most
	}
	// Near Options.MaxBytes, the second value keeps limit from adding up all objects after each event.
	c.remaining.Store(max(c.opts.MaxBytes-total, c.opts.MaxBytes/32))
}

// drop replaces a collection with an empty one, whose status contains the cause. The new collection does not follow its
// type. Removing the objects from the old collection would report them as deleted. The caller must hold the lock.
func (c *Catalog) drop(n *collection, cause error) {
	n.use(&scope{info: n.info, err: cause})
	n.forget()
	empty, _ := c.add(n.info.Type, n.settings) // the settings were valid before
	empty.explicit, empty.info = n.explicit, n.info
	empty.use(n.scope)
}

// report logs an error in a state file or in the settings for a type.
func (c *Catalog) report(err error) {
	c.opts.Warn("listwatch: the catalog cannot use a file or a setting", "cause", err.Error())
}

// awaitSlot blocks until a list may start or ctx is done. The caller must call free when the list ends.
func (c *Catalog) awaitSlot(ctx context.Context) (free func()) {
	free = func() {}
	if !send(ctx, c.lists, struct{}{}) {
		return free
	}
	if !send(ctx, c.starting, struct{}{}) {
		<-c.lists
		return free
	}
	started := sync.OnceFunc(func() { <-c.starting })
	time.AfterFunc(shortList, started)
	return sync.OnceFunc(func() {
		started()
		<-c.lists
	})
}

// send sends a value unless ctx is done first. It reports whether it has sent the value.
func send[T any](ctx context.Context, to chan<- T, value T) bool {
	select {
	case to <- value:
		return true
	case <-ctx.Done():
		return false
	}
}
