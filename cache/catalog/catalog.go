// Package catalog follows many types of a cluster in one cache. Types may appear and vanish while it runs, for example with
// a CustomResourceDefinition.
//
// A [Catalog] discovers a server's types and follows each with a stream of its own. If a type cannot be followed, its
// [Status] says why, and the other types are not held up. A [Snapshot] answers queries across types, and
// [Catalog.Changes] yields the changes of all types.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/discovery"
)

// Options configures a [Catalog]. The zero value follows all types with all their fields.
type Options struct {
	// Follow returns the settings for a type, or nil if the catalog should skip the type. The catalog calls it for each of the
	// server's types whenever it discovers types. If Follow is nil, the catalog follows all types. Follow must not call the
	// catalog's methods.
	Follow func(TypeInfo) *Settings

	// Namespaces lists the namespaces to try if the server forbids listing a type in all namespaces at once. If it is empty,
	// the catalog tries each namespace of the server.
	Namespaces []string

	// MaxLists limits how many first lists run at the same time. Zero means 4. A list that has run for 2 seconds no longer
	// counts, so that large collections do not hold up small ones. Including these, at most 16 lists run at the same time.
	MaxLists int

	// MaxBytes limits the size of all objects in memory. If they exceed it, the catalog drops the largest collection that is
	// not [Settings.Required]. The state of this collection is then Unavailable, and its cause a *[LimitError]. Subscribers
	// receive no Deleted changes for it, because the objects still exist. Zero means no limit.
	MaxBytes int64

	// StateDir is a folder where each collection saves its objects every minute, so that it resumes without a list after a
	// restart. Each server needs its own folder. If StateDir is empty, nothing is saved.
	StateDir string

	// Warn receives warnings about interruptions and unusable files. Nil means the default of [lw.Options].
	Warn func(msg string, args ...any)
}

// Settings says how to follow one type. The zero value keeps all objects with all their fields.
type Settings struct {
	LabelSelector string   // for example "app=web,tier!=db"
	FieldSelector string   // for example "spec.nodeName=n1"
	Namespaces    []string // follow only these namespaces, if the type is namespaced; nil means all
	Fields        []string // paths of the fields to keep, as in lw.Project; nil keeps all
	MetadataOnly  bool     // request only the metadata of each object
	Required      bool     // never drop the collection because of Options.MaxBytes

	// Pack stores objects in another form than text. See the function [Pack]. Nil means text.
	Pack func(lw.Codec[*lw.Object]) lw.Codec[Packed]
}

// LimitError is the cause of a collection that was dropped because of [Options.MaxBytes].
type LimitError struct {
	Type         Type
	Bytes, Limit int64 // size of its objects, and the limit on the size of all objects
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the %d bytes of %s were dropped, because all objects together exceed the limit of %d bytes: follow fewer types or fields, or raise Options.MaxBytes", e.Bytes, e.Type, e.Limit)
}

// errNoType is the cause of the state Gone.
var errNoType = errors.New("the server does not have this type")

const (
	requestsPerSecond = 50 // limits of the requests of all streams together
	requestBurst      = 100
	requestTimeout    = 30 * time.Second // of discovery and of a check for access

	discoverEvery = time.Minute      // if the server reports new types
	pollEvery     = 5 * time.Second  // otherwise; a request with an ETag costs the server little
	settleEvery   = time.Second      // after a sign of a new type, because discovery lags behind
	settleFor     = 15 * time.Second // how long discovery may lag behind
)

// Catalog follows the types of a server. All methods may be called concurrently.
type Catalog struct {
	opts      Options
	transport lw.Transport
	server    lw.Source[element] // the features that all collections have found the server to support
	lists     *slots
	remaining atomic.Int64 // number of bytes that may be decoded before the next count of all objects

	mu          sync.Mutex
	running     bool
	ctx         context.Context // context of the run
	tasks       sync.WaitGroup
	discoverer  discovery.Discoverer
	discovered  bool  // a discovery has succeeded
	discovery   error // error of the last discovery
	collections map[Type]*collection
	removed     map[Type]bool // types that Remove has removed, so that discovery does not add them again
	signs       map[Type]bool // whether the watch of a type that announces other types is open
	wake        chan struct{} // triggers discovery
	settleUntil time.Time     // until then, discovery may lag behind a change
	updated     chan struct{} // closed and replaced when a status changes
	readers     map[*statusReader]bool
	subscribers map[*subscriber]bool
	namespaces  struct {
		names []string
		at    time.Time
	}
}

// New returns a catalog of the server behind transport. It sends no requests before Run. opts may be nil.
func New(transport lw.Transport, opts *Options) *Catalog {
	c := &Catalog{
		collections: map[Type]*collection{}, removed: map[Type]bool{}, signs: map[Type]bool{}, wake: make(chan struct{}, 1), updated: make(chan struct{}),
		readers: map[*statusReader]bool{}, subscribers: map[*subscriber]bool{}, server: lw.Source[element]{StreamsLists: true},
	}
	if opts != nil {
		c.opts = *opts
	}
	c.transport = &paced{transport, rate.NewLimiter(requestsPerSecond, requestBurst)}
	c.lists = newSlots(cmp.Or(c.opts.MaxLists, 4))
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
	if err := p.limiter.Wait(ctx); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return p.Transport.Open(ctx, req)
}

// Run follows the types until ctx is done, and then returns context.Cause(ctx). When Run returns, all its goroutines have
// ended. Another Run resumes from the objects in memory. Run panics if the previous Run has not returned.
func (c *Catalog) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.locked(func() {
		if c.running {
			panic("catalog: Run called before the previous Run returned")
		}
		c.running, c.ctx = true, ctx
	})
	for _, announcing := range []lw.Resource{
		{Group: "apiextensions.k8s.io", Version: "v1", Plural: "customresourcedefinitions"},
		{Group: "apiregistration.k8s.io", Version: "v1", Plural: "apiservices"},
	} {
		c.tasks.Go(func() { c.watchSigns(ctx, announcing) })
	}
	c.discover(ctx)
	stop()
	c.tasks.Wait()
	c.locked(func() {
		c.running = false
		for _, n := range c.collections {
			n.ctx = nil
		}
	})
	return context.Cause(ctx)
}

// locked calls f while it holds the lock.
func (c *Catalog) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// watchSigns triggers discovery when a CustomResourceDefinition or an APIService changes, because the types may have changed
// too.
func (c *Catalog) watchSigns(ctx context.Context, announcing lw.Resource) {
	of := Type{Group: announcing.Group, Resource: announcing.Plural}
	client, err := lw.NewClient(c.transport, announcing, lw.RawCodec{}, &lw.ClientOptions{MetadataOnly: true})
	if err != nil {
		panic(err) // the resource is a constant
	}
	for event := range lw.ListAndWatch(ctx, client, &lw.Options{Warn: silent}) {
		c.locked(func() {
			switch event.Type {
			case lw.WatchStarted:
				c.signs[of] = true
			case lw.Interrupted:
				c.signs[of] = errors.Is(event.Interruption.Err, lw.ErrWatchClosed)
			case lw.Synced: // most of these definitions are old, so discovery contains their types already
				c.rediscover(3 * settleEvery)
			case lw.Modified, lw.Deleted:
				c.rediscover(settleFor)
			case lw.Added:
				if c.signs[of] { // after the list
					c.rediscover(settleFor)
				}
			}
		})
	}
}

// rediscover triggers discovery, and repeats it until settle has passed. The caller must hold the lock.
func (c *Catalog) rediscover(settle time.Duration) {
	if until := time.Now().Add(settle); until.After(c.settleUntil) {
		c.settleUntil = until
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// discover asks the server for its types repeatedly until ctx is done.
func (c *Catalog) discover(ctx context.Context) {
	for ctx.Err() == nil {
		asking, stop := context.WithTimeout(ctx, requestTimeout)
		types, err := c.discoverer.Discover(asking, c.transport)
		stop()
		var ended []*collection
		pause := pollEvery
		c.locked(func() {
			if ctx.Err() != nil {
				return
			}
			c.discovery = err
			if err == nil {
				c.discovered = true
				c.apply(types)
				c.discovery = errors.Join(slices.Collect(maps.Values(types.Missing))...)
			}
			ended = c.drained()
			c.broadcast()
			switch {
			case time.Now().Before(c.settleUntil):
				pause = settleEvery
			case err == nil && len(c.signs) == 2 && !slices.Contains(slices.Collect(maps.Values(c.signs)), false) && !c.draining():
				pause = discoverEvery
			}
		})
		for _, n := range ended {
			n.end()
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-c.wake:
			wait(ctx, settleEvery/4) // several changes usually arrive together
		}
		timer.Stop()
	}
}

// apply follows the discovered types and empties those that the server no longer has. The caller must hold the lock.
func (c *Catalog) apply(types *discovery.Types) {
	found := preferred(types)
	for of, info := range found {
		n := c.collections[of]
		if n == nil {
			settings := &Settings{}
			if c.opts.Follow != nil {
				settings = c.opts.Follow(info)
			}
			if settings == nil || c.removed[of] {
				continue
			}
			var err error
			if n, err = c.add(of, *settings); err != nil {
				c.report(err)
				continue
			}
		}
		c.discoveredType(n, info)
	}
	for of, n := range c.collections {
		if _, ok := found[of]; ok || mayHave(types, of) || n.state == Gone {
			continue
		}
		if n.informer.Store().ResourceVersion() == "" && n.ctx == nil {
			n.set(Gone, errNoType)
			continue
		}
		if !n.scope.gone {
			n.use(&scope{info: n.info, gone: true})
		}
		n.start(c.ctx) // the last run may have ended before all subscribers have received the deletions
	}
}

// discoveredType makes a collection follow its type in the version of info. The caller must hold the lock.
func (c *Catalog) discoveredType(n *collection, info TypeInfo) {
	var limit *LimitError
	if errors.As(n.cause, &limit) {
		return
	}
	in := n.scope
	same := len(in.clients) > 0 && !in.gone && n.info.Version == info.Version && n.info.Kind == info.Kind && n.info.Namespaced == info.Namespaced
	n.info = info
	if !same {
		next, err := n.scopeOf(info, n.wanted(info)...)
		if err != nil {
			n.set(Unavailable, fmt.Errorf("catalog: %w", err))
			return
		}
		n.use(next)
		if n.state == Gone {
			n.complete, n.synced = false, false
		}
		n.set(Waiting, nil)
	}
	n.start(c.ctx)
}

// add adds a collection and its subscribers. The caller must hold the lock.
func (c *Catalog) add(of Type, settings Settings) (*collection, error) {
	n, err := c.newCollection(of, settings)
	if err != nil {
		return nil, err
	}
	c.collections[of] = n
	for s := range c.subscribers {
		s.follow(n)
	}
	c.changed(n)
	return n, nil
}

// drained removes and returns the collections of deleted types, once all subscribers have received the deletions. The
// caller must hold the lock. After releasing it, the caller must call end on each collection.
func (c *Catalog) drained() (ended []*collection) {
	for of, n := range c.collections {
		if n.state == Gone && !n.explicit && !n.queued() {
			delete(c.collections, of)
			ended = append(ended, n)
		}
	}
	return ended
}

// draining reports whether drained waits for a subscriber. The caller must hold the lock.
func (c *Catalog) draining() bool {
	for _, n := range c.collections {
		if n.scope.gone && !n.explicit {
			return true
		}
	}
	return false
}

// Add follows a type, also if discovery does not find it yet or Options.Follow leaves it out. settings may be nil. If the
// catalog follows the type already, Add has no effect. To change the settings, call Remove first.
func (c *Catalog) Add(of Type, settings *Settings) error {
	if settings == nil {
		settings = &Settings{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.removed, of)
	if n := c.collections[of]; n != nil {
		n.explicit = true
		return nil
	}
	n, err := c.add(of, *settings)
	if err != nil {
		return err
	}
	n.explicit = true
	c.rediscover(settleFor)
	return nil
}

// Remove stops following a type and drops its objects. Subscribers receive no Deleted changes. It waits until the
// stream has ended. Discovery does not add the type again.
func (c *Catalog) Remove(of Type) {
	c.mu.Lock()
	n := c.collections[of]
	c.removed[of] = true
	delete(c.collections, of)
	c.broadcast()
	c.mu.Unlock()
	if n != nil {
		n.end()
	}
}

// WaitSynced blocks until each collection is synced or has failed. It returns an error that names those that failed, and
// an error of the discovery. If ctx is done first, it returns context.Cause(ctx). It may be called before Run.
func (c *Catalog) WaitSynced(ctx context.Context) error {
	for {
		c.mu.Lock()
		ready, err := c.syncedOrFailed()
		updated := c.updated
		c.mu.Unlock()
		if ready {
			return err
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
	Failed    []Status // in the order of their names
}

func (e *SyncError) Error() string {
	var problems []string
	if e.Discovery != nil {
		problems = append(problems, e.Discovery.Error())
	}
	for _, s := range e.Failed {
		problems = append(problems, fmt.Sprintf("%s is %s: %v", s.Type, s.State, s.Cause))
	}
	return "catalog: not synced: " + strings.Join(problems, "; ")
}

// Unwrap returns the causes.
func (e *SyncError) Unwrap() []error {
	causes := []error{}
	if e.Discovery != nil {
		causes = append(causes, e.Discovery)
	}
	for _, s := range e.Failed {
		causes = append(causes, s.Cause)
	}
	return causes
}

func (c *Catalog) syncedOrFailed() (ready bool, err error) {
	if !c.discovered && c.discovery == nil {
		return false, nil
	}
	e := &SyncError{Discovery: c.discovery}
	for _, n := range c.sorted() {
		switch {
		case n.probing && !n.probed:
			return false, nil
		case n.state.failed() && n.cause != nil && (n.explicit || n.state != Gone):
			e.Failed = append(e.Failed, n.status())
		case !n.synced:
			return false, nil
		}
	}
	if e.Discovery == nil && len(e.Failed) == 0 {
		return true, nil
	}
	return true, e
}

// sorted returns the collections in the order of their names. The caller must hold the lock.
func (c *Catalog) sorted() []*collection {
	return slices.SortedFunc(maps.Values(c.collections), func(a, b *collection) int {
		return cmp.Compare(a.info.String(), b.info.String())
	})
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

// statusReader is a loop over StatusChanges.
type statusReader struct {
	pending map[string]Status // last status of each type, by its name, that the loop has not received yet
	ready   chan struct{}
}

func (r *statusReader) add(status Status) {
	r.pending[status.Type.String()] = status
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// StatusChanges yields the status of each collection, and then yields a status again whenever its State, Cause or namespaces
// change. It ends when ctx is done or the loop exits. A slow reader receives only the latest status of each collection.
func (c *Catalog) StatusChanges(ctx context.Context) iter.Seq[Status] {
	return func(yield func(Status) bool) {
		r := &statusReader{map[string]Status{}, make(chan struct{}, 1)}
		c.locked(func() {
			c.readers[r] = true
			for _, n := range c.collections {
				r.add(n.status())
			}
		})
		defer c.locked(func() { delete(c.readers, r) })
		for {
			select {
			case <-r.ready:
			case <-ctx.Done():
				return
			}
			var pending map[string]Status
			c.locked(func() { pending, r.pending = r.pending, map[string]Status{} })
			for _, name := range slices.Sorted(maps.Keys(pending)) {
				if !yield(pending[name]) {
					return
				}
			}
		}
	}
}

// changed reports a new status. The caller must hold the lock.
func (c *Catalog) changed(n *collection) {
	if len(c.readers) > 0 {
		status := n.status()
		for r := range c.readers {
			r.add(status)
		}
	}
	c.broadcast()
}

// broadcast wakes WaitSynced. The caller must hold the lock.
func (c *Catalog) broadcast() {
	close(c.updated)
	c.updated = make(chan struct{})
}

// candidates returns the namespaces to try if the server forbids lists of all namespaces.
func (c *Catalog) candidates(ctx context.Context) []string {
	if len(c.opts.Namespaces) > 0 {
		return c.opts.Namespaces
	}
	c.mu.Lock()
	known, at := c.namespaces.names, c.namespaces.at
	c.mu.Unlock()
	if time.Since(at) < probeInterval {
		return known
	}
	client, err := lw.NewClient(c.transport, lw.Resource{Version: "v1", Plural: "namespaces"}, lw.RawCodec{}, &lw.ClientOptions{MetadataOnly: true})
	if err != nil {
		panic(err) // the resource is a constant
	}
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	var names []string
	for object, err := range client.List(ctx, lw.ListOptions{}).Objects {
		if err != nil {
			return known
		}
		names = append(names, object.GetName())
	}
	slices.Sort(names)
	c.locked(func() { c.namespaces.names, c.namespaces.at = names, time.Now() })
	return names
}

// limit records the size of a decoded object. If all objects together exceed Options.MaxBytes, limit drops the largest
// collection that is not required.
func (c *Catalog) limit(bytes int64) {
	if c.opts.MaxBytes == 0 || c.remaining.Add(-bytes) >= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var total, most int64
	var largest *collection
	for _, n := range c.collections {
		bytes := n.bytes()
		total += bytes
		if !n.settings.Required && bytes > most {
			largest, most = n, bytes
		}
	}
	if total > c.opts.MaxBytes && largest != nil {
		largest.drop(&LimitError{largest.info.Type, most, c.opts.MaxBytes})
		total -= most
	}
	c.remaining.Store(max(c.opts.MaxBytes-total, c.opts.MaxBytes/32)) // so that counting costs little near the limit
}

// report logs an error of a file or of the settings.
func (c *Catalog) report(err error) {
	if c.opts.Warn != nil {
		c.opts.Warn("listwatch: the catalog cannot use a file or a setting", "cause", err.Error())
	}
}

// slots limits how many first lists run at the same time.
type slots struct {
	short chan struct{} // lists that have just started
	all   chan struct{}
}

const (
	maxRunning = 16
	shortList  = 2 * time.Second
)

func newSlots(short int) *slots {
	return &slots{make(chan struct{}, short), make(chan struct{}, max(short, maxRunning))}
}

// acquire blocks until a list may start or ctx is done. The caller must call free.
func (s *slots) acquire(ctx context.Context) (free func()) {
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		return func() {}
	}
	select {
	case s.short <- struct{}{}:
	case <-ctx.Done():
		<-s.all
		return func() {}
	}
	long := sync.OnceFunc(func() { <-s.short })
	timer := time.AfterFunc(shortList, long)
	return sync.OnceFunc(func() {
		timer.Stop()
		long()
		<-s.all
	})
}
