package scenarios

import (
	"errors"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// rejected checks how an informer handles error responses. By default, the informer reports each one and retries. With
// Options.StopOn, the informer stops.
func rejected(r *run, what following, code int, target error) {
	patient := r.follow(what)
	r.eventually("each error response is reported", func() bool { return patient.broke(target) >= 2 })
	patient.stop()
	require.Empty(r, patient.changes)
	require.Zero(r, patient.syncs)

	what.StopOn = lw.IsPermanent
	stopping := r.follow(what)
	<-stopping.done
	require.Len(r, stopping.breaks, 1)
	require.True(r, stopping.breaks[0].Final)
	// The error for a failed WebSocket handshake wraps the status.
	status, ok := errors.AsType[*lw.StatusError](stopping.breaks[0].Err)
	require.True(r, ok)
	require.Equal(r, code, status.Code)
	require.NotEmpty(r, status.Message)
}

// allNamespaces checks that an informer can follow the ConfigMaps of all namespaces.
func allNamespaces(r *run) {
	first := r.ns
	r.create(5, "cm-")
	r.ns = r.namespace()
	f := r.follow(following{resource: configMaps("")})
	r.create(7, "cm-")
	f.equal("/api/v1/configmaps")
	byNamespace := cache.NewIndex(f.informer.Store(), cache.ByNamespace[*lw.Object])
	for _, namespace := range []string{r.ns, first} {
		require.Len(r, byNamespace.List(namespace), len(r.server("/api/v1/namespaces/"+namespace+"/configmaps")))
	}
	_, ok := f.informer.Store().Get(lw.Key{Namespace: first, Name: "cm-1"})
	require.True(r, ok)
}

// customResource follows custom resources. In a list of custom resources, the metadata comes after the items. The
// objects have arbitrary fields.
func customResource(r *run) {
	widget := func(name, size string) string {
		return `{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"},"spec":{"size":` + size + `}}`
	}
	r.write(http.MethodPost, r.widgets(), widget("w1", "12345678901234567")) // no float64 has this value
	f := r.follow(following{resource: lw.Resource{Group: "lw.example.com", Version: "v1", Plural: "widgets", Namespace: r.ns}})
	f.equal(r.widgets())
	r.write(http.MethodPost, r.widgets(), widget("w2", "1.5"))
	r.write(http.MethodPatch, r.widgets("w1"), `{"spec":{"colour":"blue"}}`)
	f.equal(r.widgets())
	w1, ok := f.informer.Store().Get(lw.Key{Namespace: r.ns, Name: "w1"})
	require.True(r, ok)
	require.Equal(r, "12345678901234567", w1.Get("spec.size").String())
	require.Equal(r, "Widget", w1.Kind())
	r.write(http.MethodDelete, r.widgets("w1"), "")
	f.equal(r.widgets())
}

// oneObjectByName checks that an informer for a single object receives no changes to other objects.
func oneObjectByName(r *run) {
	r.create(3, "cm-")
	one := configMaps(r.ns)
	one.Name = "cm-1"
	f := r.follow(following{resource: one})
	selected := r.configMaps() + "?fieldSelector=metadata.name%3Dcm-1"
	f.equal(selected)
	r.write(http.MethodPatch, r.configMaps("cm-0"), `{"data":{"k":"x"}}`)
	r.write(http.MethodPatch, r.configMaps("cm-1"), `{"data":{"k":"x"}}`)
	f.equal(selected)
	r.write(http.MethodDelete, r.configMaps("cm-1"), "")
	f.equal(selected)
	require.Zero(r, f.informer.Store().Len())
	require.Len(r, f.received(), 3) // cm-1 was added, modified and deleted
}

// labelSelector checks the events for objects that start or stop matching the selector. If an object stops
// matching, its deletion must contain the last matching state.
func labelSelector(r *run) {
	r.create(2, "cm-")
	f := r.follow(following{Options: lw.Options{LabelSelector: "app=demo"}})
	selected := r.configMaps() + "?labelSelector=app%3Ddemo"
	f.equal(selected)
	require.Equal(r, 2, f.informer.Store().Len())
	r.write(http.MethodPatch, r.configMaps("cm-0"), `{"metadata":{"labels":{"app":"other"}}}`)
	f.equal(selected)
	changes := f.received()
	left := changes[len(changes)-1]
	require.Equal(r, lw.Deleted, left.Type)
	app, _ := left.Old.Label("app")
	require.Equal(r, "demo", app)
	r.write(http.MethodPatch, r.configMaps("cm-0"), `{"metadata":{"labels":{"app":"demo"}}}`)
	f.equal(selected)
	require.Equal(r, 2, f.informer.Store().Len())
}

// sameObjectByListAndWatch checks that lists and watches return the same bytes for the same object.
func sameObjectByListAndWatch(r *run) {
	watching := r.populate(0)
	r.write(http.MethodPost, r.configMaps(), configMap("by-watch", "demo", "v"))
	watching.equal(r.configMaps())
	listing := r.populate(0)
	key := lw.Key{Namespace: r.ns, Name: "by-watch"}
	watched, _ := watching.informer.Store().Get(key)
	listed, _ := listing.informer.Store().Get(key)
	require.Equal(r, watched.Raw(), listed.Raw())
	require.Equal(r, "ConfigMap", listed.Kind())
	require.False(r, listed.Get("metadata.managedFields").Exists())
}

func metadataOnly(r *run) {
	r.create(3, "cm-")
	f := r.follow(following{metadataOnly: true})
	hold := func(n int) {
		r.eventually("the objects arrive and a watch is open", func() bool { return f.isLive() && f.informer.Store().Len() == n })
	}
	hold(3)
	r.create(1, "later-")
	hold(4)
	require.Zero(r, f.broke(nil))
	for _, object := range f.informer.Store().List() {
		require.Equal(r, "PartialObjectMetadata", object.Kind())
		require.False(r, object.Get("data").Exists(), object.Raw())
		require.False(r, object.Get("metadata.managedFields").Exists())
	}
}
