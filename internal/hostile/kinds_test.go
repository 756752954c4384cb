package hostile

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// widgets is a custom resource whose kind can change. A proxy can also pretend that the kind has changed.
type widgets struct {
	*Server
	kind   atomic.Pointer[string] // kind of the objects in responses
	truth  atomic.Pointer[string] // kind in the resource list
	gone   atomic.Bool            // requests for the collection return 404
	portal atomic.Bool            // lists are empty lists of kind Portal
	asked  atomic.Int64           // requests for the resource list
}

var widgetResource = lw.Resource{Group: "example.com", Version: "v1", Plural: "widgets", Namespace: namespace}

func newWidgets() *widgets {
	w := &widgets{Server: (&Scenario{}).Start()}
	widget := "Widget"
	w.kind.Store(&widget)
	w.truth.Store(&widget)
	w.serve = func(c *call) {
		c.edit = func(_ *call, text string) string {
			return strings.NewReplacer("ConfigMap", *w.kind.Load(), `"apiVersion":"v1"`, `"apiVersion":"example.com/v1"`).Replace(text)
		}
		switch {
		case c.request.URL.Path == "/apis/example.com/v1":
			w.asked.Add(1)
			c.write(`{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"widgets","kind":"` + *w.truth.Load() + `"}]}`)
		case w.gone.Load():
			c.reject(404, "", "404 page not found")
		case w.portal.Load() && !c.watch:
			c.write(`{"kind":"PortalList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"` + c.version(c.now()) + `"},"items":[]}`)
		default:
			correct(c)
		}
	}
	return w
}

// expire breaks all connections and makes every watch expire, so that the client must relist.
func (w *widgets) expire() {
	w.mustList.Store(true)
	w.Cut()
	w.comeUp()
}

func (f *following) requireCurrent(t *testing.T, w *widgets, within time.Duration) {
	t.Helper()
	time.Sleep(within)
	synctest.Wait()
	require.Equal(t, lw.Live, f.State().Phase, "%v", f.reported())
	require.Empty(t, differ(f.Store().Snapshot(), w.latest()), "%v", f.reported())
	for _, object := range f.Store().List() {
		require.Equal(t, *w.kind.Load(), object.Kind())
	}
}

func TestKindsOfCustomResources(t *testing.T) {
	play := func(t *testing.T, opts lw.Options, course func(*testing.T, *widgets, *following)) {
		for transport, s := range transports {
			t.Run(transport, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWidgets()
					f := s.follow(t, w.Server, widgetResource, opts)
					f.requireCurrent(t, w, time.Minute)
					course(t, w, f)
				})
			})
		}
	}
	gadget := "Gadget"
	t.Run("deleted and created with another kind", func(t *testing.T) {
		play(t, ordinary, func(t *testing.T, w *widgets, f *following) {
			w.gone.Store(true)
			w.expire()
			time.Sleep(5 * time.Second)
			require.Equal(t, lw.Stale, f.State().Phase)
			w.kind.Store(&gadget)
			w.truth.Store(&gadget)
			w.gone.Store(false)
			f.requireCurrent(t, w, time.Minute)
		})
	})
	t.Run("replaced by another kind at once", func(t *testing.T) {
		play(t, ordinary, func(t *testing.T, w *widgets, f *following) {
			w.kind.Store(&gadget)
			w.truth.Store(&gadget)
			w.expire()
			f.requireCurrent(t, w, time.Minute)
			require.EqualValues(t, 1, w.asked.Load())
		})
	})
	t.Run("a portal repeats itself", func(t *testing.T) {
		play(t, ordinary, func(t *testing.T, w *widgets, f *following) {
			before := f.Store().Len()
			w.portal.Store(true)
			w.expire()
			time.Sleep(10 * time.Minute)
			require.Equal(t, before, f.Store().Len(), "the list of a portal must not delete objects")
			require.Equal(t, lw.Stale, f.State().Phase)
			w.portal.Store(false)
			f.requireCurrent(t, w, 2*time.Minute)
		})
	})
	t.Run("a portal after a streaming list", func(t *testing.T) {
		play(t, lw.Options{}, func(t *testing.T, w *widgets, f *following) {
			before := f.Store().Len()
			w.portal.Store(true)
			w.Cut()
			w.comeUp()
			time.Sleep(time.Minute)
			require.Equal(t, before, f.Store().Len(), "the list of a portal must not delete objects")
			w.portal.Store(false)
			f.requireCurrent(t, w, 2*time.Minute)
		})
	})
	t.Run("a portal answers first", func(t *testing.T) {
		for transport, s := range transports {
			t.Run(transport, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWidgets()
					w.portal.Store(true)
					f := s.follow(t, w.Server, widgetResource, ordinary)
					time.Sleep(time.Minute)
					w.portal.Store(false)
					w.expire()
					f.requireCurrent(t, w, time.Minute)
				})
			})
		}
	})
}
