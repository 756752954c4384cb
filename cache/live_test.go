package cache

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// liveObjects is an lw.ListerWatcher. Every list returns the same objects. The test sends the events of the watches.
type liveObjects struct {
	first   []string
	version string // resourceVersion of the lists; if it is empty, the lists have the resourceVersion "2"
	events  chan lw.Event[*lw.Object]
}

func (l *liveObjects) List(_ context.Context, opts lw.ListOptions) *lw.Page[*lw.Object] {
	page := new(lw.Page[*lw.Object])
	page.Objects = func(yield func(*lw.Object, error) bool) {
		if isCheck(opts, &page.ListMeta) {
			return
		}
		for _, word := range l.first {
			if !yield(object(word), nil) {
				return
			}
		}
		page.ResourceVersion = cmp.Or(l.version, "2")
	}
	return page
}

func (*liveObjects) Source() *lw.Source[*lw.Object] { return nil }

func (l *liveObjects) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[*lw.Object], error] {
	return func(yield func(lw.Event[*lw.Object], error) bool) {
		event := lw.Event[*lw.Object]{Type: lw.WatchStarted, ResourceVersion: opts.ResourceVersion}
		for yield(event, nil) {
			select {
			case event = <-l.events:
				if event.Type == 0 {
					yield(event, errs["expired"])
					return
				}
			case <-ctx.Done():
				yield(lw.Event[*lw.Object]{}, context.Cause(ctx))
				return
			}
		}
	}
}

// expire ends the watch with an Expired error.
func (l *liveObjects) expire() { l.events <- lw.Event[*lw.Object]{} }

// addAndDelete alternately sends Added and Deleted events until ctx is done, and returns ctx.Err().
func (l *liveObjects) addAndDelete(ctx context.Context) error {
	for version := 3; ; version++ {
		event := lw.Event[*lw.Object]{Type: lw.Added, Object: object("x-" + strconv.Itoa(version/2%9) + "@" + strconv.Itoa(version))}
		event.ResourceVersion = event.Object.GetResourceVersion()
		if version%2 == 1 {
			event.Type = lw.Deleted
		}
		select {
		case l.events <- event:
		case <-ctx.Done():
			return ctx.Err()
		}
		runtime.Gosched() // lets other goroutines run, because WASM has only one thread
	}
}
