package clients

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// clientObject has the same methods as controller-runtime's client.Object.
type clientObject interface {
	metav1.Object
	runtime.Object
}

func TestResourceOfBuiltInTypes(t *testing.T) {
	pods, err := codec.ResourceOf(&corev1.Pod{}, "shop")
	require.NoError(t, err)
	require.Equal(t, lw.Pods("shop"), pods)
	deployments, err := codec.ResourceOf(&appsv1.Deployment{}, "")
	require.NoError(t, err)
	require.Equal(t, lw.Resource{Group: "apps", Version: "v1", Plural: "deployments"}, deployments)
	nodes, err := codec.ResourceOf(&corev1.Node{}, "")
	require.NoError(t, err)
	require.Equal(t, lw.Resource{Version: "v1", Plural: "nodes"}, nodes)

	_, err = codec.ResourceOf(&corev1.Node{}, "shop")
	require.ErrorContains(t, err, "has no namespaces")
	_, err = codec.ResourceOf(&metav1.PartialObjectMetadata{}, "")
	require.ErrorContains(t, err, "*v1.PartialObjectMetadata is not a pointer to a built-in Kubernetes type")
}

// TestBuiltInTypesDecode checks that each built-in type's codec decodes objects of this type and rejects objects of
// another type.
func TestBuiltInTypesDecode(t *testing.T) {
	var before clientObject
	for b := range builtin.All() {
		empty, err := scheme.Scheme.New(schema.GroupVersionKind{Group: b.Group, Version: b.Version, Kind: b.Kind})
		if err != nil {
			require.NotContains(t, b.Package, "k8s.io/api/") // this type is not in client-go's scheme, which contains all types of k8s.io/api
			continue
		}
		object := empty.(clientObject)
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: b.Group, Version: b.Version, Kind: b.Kind})
		object.SetName("a")
		got, err := decodeAs(t, object, object)
		require.NoError(t, err, b.Kind)
		require.Equal(t, object.GetObjectKind(), got.GetObjectKind())
		require.IsType(t, object, got)
		if before != nil {
			_, err = decodeAs(t, object, before)
			require.Regexp(t, ": field (kind|apiVersion): ", err.Error())
			require.ErrorContains(t, err, ", found "+schema.GroupVersion{Group: b.Group, Version: b.Version}.String()+" "+b.Kind)
		}
		before = object
	}
}

// chosen is a codec that decodes each object into a new Go value, which create returns.
type chosen struct {
	lw.Codec[clientObject]
	create func() clientObject
}

func (c chosen) Decode(s *lw.Scanned) (clientObject, error) {
	text, err := lw.RawCodec{}.Decode(s)
	if err != nil {
		return nil, err
	}
	object := c.create()
	if err := codec.Into(text, object); err != nil {
		return nil, err
	}
	return object, nil
}

// decodeAs encodes object as JSON. It then decodes the JSON into a new value that has the same Go type as the value of
// the parameter "as".
func decodeAs(t *testing.T, object, as clientObject) (got clientObject, err error) {
	text, err := json.Marshal(object)
	require.NoError(t, err)
	into := chosen{codec.JSON[clientObject](nil), func() clientObject { return reflect.New(reflect.TypeOf(as).Elem()).Interface().(clientObject) }}
	client, err := lw.NewClient(&loop{text: []byte(`{"type":"ADDED","object":` + string(text) + "}\n")}, lw.Pods(""), into, nil)
	require.NoError(t, err)
	for event, err := range client.Watch(t.Context(), lw.ListOptions{}) {
		if err != nil || event.Type == lw.Added {
			return event.Object, err
		}
	}
	return nil, errors.New("the watch ended before it returned an object")
}

func TestRejectsObjectsOfAnotherType(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	_, err = server.Put("pods", `{"metadata":{"name":"web-0"}}`)
	require.NoError(t, err)
	store := follow(t, server, lw.Pods(""), codec.JSON[*appsv1.Deployment](nil))
	require.Zero(t, store.Len())
	require.Len(t, store.DecodeErrors(), 1)
	require.EqualError(t, store.DecodeErrors()[0].Err,
		"field kind: expected apps/v1 Deployment (the type that codec.ResourceOf lists for *v1.Deployment), found v1 Pod")
}

func TestInformerOfAnInterfaceType(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	for _, app := range []string{"web", "db"} {
		_, err = server.Put("pods", `{"metadata":{"name":"`+app+`","labels":{"app":"`+app+`"}}}`)
		require.NoError(t, err)
	}
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	pods := chosen{codec.JSON[clientObject](nil), func() clientObject { return &corev1.Pod{} }}
	client, err := lw.NewClient(transport, lw.Pods(""), pods, nil)
	require.NoError(t, err)
	informer := cache.NewInformer(client, nil)
	byApp := cache.NewIndex(informer.Store(), func(o clientObject, to []string) []string { return append(to, o.GetLabels()["app"]) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		informer.Run(ctx)
	}()
	defer func() { cancel(); <-done }()
	<-informer.Synced()
	found := byApp.List("web")
	require.Len(t, found, 1)
	require.IsType(t, &corev1.Pod{}, found[0])
	require.Equal(t, "web", found[0].GetName())
}
