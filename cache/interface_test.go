package cache

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// anyObject is an interface type that these tests use as the object type.
type anyObject interface {
	lw.Keyed
	String() string
}

// anyLive is a liveObjects whose objects have the type anyObject.
type anyLive struct{ *liveObjects }

func (l anyLive) List(ctx context.Context, opts lw.ListOptions) *lw.Page[anyObject] {
	page := new(lw.Page[anyObject])
	page.Objects = func(yield func(anyObject, error) bool) {
		objects := l.liveObjects.List(ctx, opts)
		for object, err := range objects.Objects {
			if !yield(object, err) {
				return
			}
		}
		page.ListMeta = objects.ListMeta
	}
	return page
}

func (anyLive) Source() *lw.Source[anyObject] { return nil }

func (l anyLive) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[anyObject], error] {
	return func(yield func(lw.Event[anyObject], error) bool) {
		for event, err := range l.liveObjects.Watch(ctx, opts) {
			as := lw.Event[anyObject]{Type: event.Type, ResourceVersion: event.ResourceVersion}
			if event.Object != nil {
				as.Object = event.Object
			}
			if !yield(as, err) {
				return
			}
		}
	}
}

func TestInformerOfInterfaceType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := anyLive{&liveObjects{first: []string{"a/x@1#u"}, events: make(chan lw.Event[*lw.Object])}}
		informer := NewInformer[anyObject](source, plainLists())
		var got []string
		informer.Handle(Handler[anyObject]{
			Added:    func(o anyObject, _ bool) { got = append(got, "+"+o.String()) },
			Modified: func(old, o anyObject) { got = append(got, "~"+old.String()+">"+o.String()) },
			Deleted:  func(o anyObject, _ bool) { got = append(got, "-"+o.String()) },
		}, nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- informer.Run(ctx) }()
		<-informer.Synced()
		send := func(kind lw.EventType, word string) {
			o := object(word)
			source.events <- lw.Event[*lw.Object]{Type: kind, Object: o, ResourceVersion: o.GetResourceVersion()}
			synctest.Wait()
		}
		send(lw.Modified, "a/x@3#u")
		source.first, source.version = []string{"a/x@3#u"}, "3"
		source.expire()
		synctest.Wait()
		send(lw.Modified, "a/x@4#v")
		send(lw.Deleted, "a/x@5#v")
		stop()
		require.ErrorIs(t, <-done, context.Canceled)
		require.Equal(t, []string{"+ a/x@1", "~ a/x@1> a/x@3", "- a/x@3", "+ a/x@4", "- a/x@5"}, got)
		require.Zero(t, informer.Store().Len())
	})
}

func TestSnapshotsOfInterfaceType(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[anyObject]{})
	writer.Put(object("x@1"), object("y@1"))
	before := store.Snapshot()
	writer.Put(object("y@2"))
	old, ok := before.Get(lw.Key{Name: "y"})
	require.True(t, ok)
	require.Equal(t, "1", old.GetResourceVersion())
	found, ok := store.Get(lw.Key{Name: "y"})
	require.True(t, ok)
	require.Equal(t, "2", found.GetResourceVersion())
}
