package cache

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// simulation is a fake server whose random behavior depends only on the seed. Its requests fail with various errors or
// close cleanly. It runs in the caller's goroutine.
type simulation struct {
	*rand.Rand
	names    int                    // number of names in each of the three namespaces; zero means 3
	log      []lw.Event[*lw.Object] // all events; the resourceVersion of an event is its position, starting at 1
	now      map[lw.Key]*lw.Object  // the objects after all events
	page     []*lw.Object           // the remaining items of the current list
	requests int                    // number of requests until end is called
	end      func()                 // ends the run
	calm     bool                   // requests end only with a clean close, so the next request follows without a delay
}

// state returns the objects at a resourceVersion.
func (w *simulation) state(version int) map[lw.Key]*lw.Object {
	objects := map[lw.Key]*lw.Object{}
	for _, event := range w.log[:version] {
		if event.Type == lw.Deleted {
			delete(objects, lw.KeyOf(event.Object))
		} else {
			objects[lw.KeyOf(event.Object)] = event.Object
		}
	}
	return objects
}

// step adds, updates or deletes a random object.
func (w *simulation) step() {
	key := lw.Key{Namespace: string(rune('a' + w.IntN(3))), Name: "x" + strconv.Itoa(w.IntN(cmp.Or(w.names, 3)))}
	version := strconv.Itoa(len(w.log) + 1)
	held := w.now[key]
	event := lw.Event[*lw.Object]{Type: lw.Added, ResourceVersion: version}
	uid := version
	if held != nil {
		uid = held.GetUID()
		event.Type = []lw.EventType{lw.Modified, lw.Modified, lw.Deleted}[w.IntN(3)]
	}
	event.Object = object(key.String() + "@" + version + "#" + uid)
	w.log = append(w.log, event)
	if w.now == nil {
		w.now = map[lw.Key]*lw.Object{}
	}
	w.now[key] = event.Object
	if event.Type == lw.Deleted {
		delete(w.now, key)
	}
}

// fault returns a random error, or nil if the request succeeds.
func (w *simulation) fault() error {
	switch w.IntN(12) {
	case 0:
		return errs["expired"]
	case 1, 2:
		return errs["reset"]
	}
	return nil
}

// itemFault returns a random error that ends a list before its next item, or nil. With many names, such an error is
// rare, because otherwise no long list would be complete.
func (w *simulation) itemFault() error {
	if w.names > 0 && w.IntN(w.names) > 0 {
		return nil
	}
	return w.fault()
}

func (w *simulation) List(ctx context.Context, opts lw.ListOptions) *lw.Page[*lw.Object] {
	page := new(lw.Page[*lw.Object])
	page.Objects = func(yield func(*lw.Object, error) bool) {
		if opts.Continue == "" { // all pages have the resourceVersion of the first page
			w.page = slices.SortedFunc(maps.Values(w.now), func(a, b *lw.Object) int {
				return cmp.Compare(lw.KeyOf(a).String(), lw.KeyOf(b).String())
			})
			opts.Continue = strconv.Itoa(len(w.log))
		}
		for n := 0; len(w.page) > 0 && (opts.Limit == 0 || n < opts.Limit); n++ {
			w.step() // a change that only the watch delivers
			if err := w.itemFault(); err != nil && !w.calm {
				yield(nil, err)
				return
			}
			item := w.page[0]
			w.page = w.page[1:]
			if !yield(object(lw.KeyOf(item).String()+"@"+item.GetResourceVersion()+"#"+item.GetUID()), nil) { // a new pointer, because decoding also creates a new object
				return
			}
		}
		page.ResourceVersion = opts.Continue
		if len(w.page) > 0 {
			page.Continue = opts.Continue
		}
	}
	return page
}

func (*simulation) Source() *lw.Source[*lw.Object] { return nil }

func (w *simulation) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[*lw.Object], error] {
	return func(yield func(lw.Event[*lw.Object], error) bool) {
		w.requests--
		if w.requests < 0 {
			w.end()
		}
		from, err := strconv.Atoi(opts.ResourceVersion)
		if err != nil || !yield(lw.Event[*lw.Object]{Type: lw.WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			return
		}
		for i := from; i < from+1+w.IntN(12); i++ {
			for i >= len(w.log) {
				w.step()
			}
			event := w.log[i]
			if event.Type == lw.Modified && w.IntN(8) == 0 {
				event.Type = lw.Added // like the synthetic Added events at the start of a watch
			}
			again := w.IntN(8) == 0
			if !yield(event, nil) || again && !yield(event, nil) {
				return
			}
			if w.IntN(6) == 0 && !yield(lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: event.ResourceVersion}, nil) {
				return
			}
		}
		if err := w.fault(); err != nil && !w.calm {
			yield(lw.Event[*lw.Object]{}, err)
			return
		}
		for range w.IntN(5) {
			w.step() // a change while no watch is open
		}
	}
}

// The changes must be legal, and applying all of them must produce the objects of the store. Except during a list, the
// store must contain the objects that the server had at the store's resourceVersion.
func TestRandomSequences(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			ctx, cancel := context.WithCancel(t.Context())
			w := &simulation{Rand: rand.New(rand.NewPCG(seed, 0)), requests: 25, end: cancel}
			informer := NewInformer(w, &lw.Options{PageSize: 2, NoStreamingList: true})
			store, sum, listing := informer.Store(), fold{}, false
			for event, changes := range informer.Follow(ctx) {
				for _, change := range changes {
					sum.apply(t, change)
				}
				sum.equal(t, store)
				switch event.Type {
				case lw.ListStarted: // the store is incomplete until Synced, even if the list is interrupted
					listing = true
				case lw.Synced:
					listing = false
				}
				if listing || store.ResourceVersion() == "" {
					continue
				}
				version, err := strconv.Atoi(store.ResourceVersion())
				require.NoError(t, err)
				want := w.state(version)
				require.Equal(t, len(want), store.Len())
				for key, object := range want {
					require.Equal(t, *object, *sum[key])
				}
			}
		})
	}
}
