package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// follower runs an informer and applies its changes to the map fold. It records a fault for each change that
// contradicts the map.
type follower struct {
	*run
	link     *link
	informer *cache.Informer[*lw.Object]

	mu      sync.Mutex
	fold    map[lw.Key]*lw.Object
	changes []cache.Change[*lw.Object]
	breaks  []*lw.Interruption
	live    bool
	syncs   int
	faults  []error
	stop    context.CancelFunc
	done    chan struct{}
}

// follow starts a follower of resource and stops it when the test ends. The follower sends the given bearer token. opts
// may be nil. If edit is not nil, it can change the query of each request.
func (r *run) follow(resource lw.Resource, token string, opts *lw.Options, edit func(query)) *follower {
	f := r.follower(resource, token, opts, edit)
	f.start()
	return f
}

func (r *run) follower(resource lw.Resource, token string, opts *lw.Options, edit func(query)) *follower {
	r.Helper()
	link := newLink(r.transport(token))
	link.edit = edit
	if opts == nil {
		opts = &lw.Options{}
	}
	opts.NoStreamingList = !r.streaming
	codec := lw.Codec[*lw.Object](lw.RawCodec{})
	clientOpts := &lw.ClientOptions{}
	if r.protobuf {
		codec, clientOpts.Protobuf = r.Protobuf, true
	}
	client, err := lw.NewClient(link, resource, codec, clientOpts)
	require.NoError(r, err)
	f := &follower{
		run: r, link: link, informer: cache.NewInformer(client, opts),
		fold: map[lw.Key]*lw.Object{}, done: make(chan struct{}),
	}
	return f
}

func (f *follower) start() {
	ctx, cancel := context.WithCancel(f.ctx)
	f.stop = func() {
		cancel()
		<-f.done
	}
	go func() {
		defer close(f.done)
		for event, changes := range f.informer.Follow(ctx) {
			f.step(event, changes)
		}
	}()
	f.Cleanup(func() {
		f.stop()
		require.Empty(f, f.faults)
	})
}

func (f *follower) step(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch event.Type {
	case lw.Interrupted:
		f.breaks, f.live = append(f.breaks, event.Interruption), false
		f.Logf("interrupted: %v (delay %v, relist %v)", event.Interruption.Err, event.Interruption.Delay, event.Interruption.Relist)
	case lw.WatchStarted:
		f.live = true
	case lw.Synced:
		f.syncs++
	}
	for _, change := range changes {
		f.changes = append(f.changes, change)
		if err := f.apply(change); err != nil {
			f.faults = append(f.faults, err)
		}
	}
}

func (f *follower) apply(d cache.Change[*lw.Object]) error {
	object := d.New
	if d.Type == lw.Deleted {
		object = d.Old
	}
	held := f.fold[lw.KeyOf(object)]
	switch {
	case (held != nil) == (d.Type == lw.Added):
		return fmt.Errorf("the %v change for %v contradicts the earlier changes (object known: %v)", d.Type, lw.KeyOf(object), held != nil)
	case d.Type == lw.Modified && d.Old != held:
		return fmt.Errorf("the Modified change for %v has the wrong old object", lw.KeyOf(object))
	case d.Type == lw.Modified && d.New.GetResourceVersion() == held.GetResourceVersion():
		return fmt.Errorf("the Modified change for %v does not change the resourceVersion", lw.KeyOf(object))
	case d.Type == lw.Deleted:
		delete(f.fold, lw.KeyOf(object))
		return nil
	}
	f.fold[lw.KeyOf(object)] = object
	return nil
}

// broke returns the number of interruptions for which match returns true.
func (f *follower) broke(match func(*lw.Interruption) bool) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.breaks {
		if match(b) {
			n++
		}
	}
	return n
}

func is(target error) func(*lw.Interruption) bool {
	return func(b *lw.Interruption) bool { return errors.Is(b.Err, target) }
}

// equal waits until both the store and the map fold contain the objects that the server lists at path. It then
// compares their content.
func (f *follower) equal(path string) {
	f.Helper()
	var want, got map[string]map[string]any
	f.eventually("the store and the applied changes match the server, and a watch is open", func() bool {
		want = f.server(path)
		f.mu.Lock()
		defer f.mu.Unlock()
		objects := f.informer.Store().List()
		got = contents(f, objects)
		// The store may contain changes that step has not yet applied to fold.
		applied := !slices.ContainsFunc(objects, func(object *lw.Object) bool { return f.fold[lw.KeyOf(object)] != object })
		return f.live && applied && len(f.fold) == len(objects) && maps.EqualFunc(want, got, sameVersion)
	})
	require.Equal(f, want, got)
}

func sameVersion(a, b map[string]any) bool {
	return a["metadata"].(map[string]any)["resourceVersion"] == b["metadata"].(map[string]any)["resourceVersion"]
}

func contents(t require.TestingT, objects []*lw.Object) map[string]map[string]any {
	var items []map[string]any
	for _, object := range objects {
		var item map[string]any
		require.NoError(t, json.Unmarshal([]byte(object.Raw()), &item))
		items = append(items, item)
	}
	return byKey(items)
}
