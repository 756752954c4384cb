package clientgo

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestFactoriesDeliverEvents checks that dynamic and metadata informers apply the namespace and the selector, and use
// streaming lists.
func TestFactoriesDeliverEvents(t *testing.T) {
	selected := &FactoryOptions{Namespace: "shop", TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "app=web" }}
	type factory interface {
		Start(<-chan struct{})
		Shutdown()
	}
	for name, create := range map[string]func(*rest.Config) (factory, informers.GenericInformer, error){
		"dynamic": func(config *rest.Config) (factory, informers.GenericInformer, error) {
			f, err := NewDynamicSharedInformerFactory(config, 0, selected)
			return f, f.ForResource(pods), err
		},
		"metadata": func(config *rest.Config) (factory, informers.GenericInformer, error) {
			f, err := NewMetadataSharedInformerFactory(config, 0, selected)
			return f, f.ForResource(pods), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			put := func(namespace, name, app string, generation int) {
				_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"labels":{"app":%q},"annotations":{"n":"%d"}}}`, name, namespace, app, generation))
				require.NoError(t, err)
			}
			put("elsewhere", "a", "web", 1)
			put("shop", "b", "db", 1)
			put("shop", "first", "web", 1)
			f, pods, err := create(&rest.Config{Host: server.URL})
			require.NoError(t, err)
			var handler metadataRecorder
			_, err = pods.Informer().AddEventHandler(&handler)
			require.NoError(t, err)
			stop := make(chan struct{})
			f.Start(stop)
			waitSynced(t, pods.Informer().HasSyncedChecker())
			put("shop", "c", "web", 1)
			put("elsewhere", "c", "web", 1)
			put("shop", "c", "web", 2)
			require.NoError(t, server.Delete("pods", "shop", "c"))
			handler.wait(t, "add first1 true", "add c1 false", "update c1 c2", "delete c2")
			close(stop)
			f.Shutdown()
			require.Empty(t, server.Requests(lwtest.Lists))
			require.Equal(t, "true", server.Requests(nil)[0].URL.Query().Get("sendInitialEvents"))
		})
	}
}

// metadataRecorder records the name and the annotation "n" of each object.
type metadataRecorder struct{ recorder }

func (r *metadataRecorder) text(obj any) string {
	o := obj.(metav1.Object)
	return o.GetName() + o.GetAnnotations()["n"]
}

func (r *metadataRecorder) OnAdd(obj any, initial bool) { r.add("add %s %t", r.text(obj), initial) }

func (r *metadataRecorder) OnUpdate(old, obj any) { r.add("update %s %s", r.text(old), r.text(obj)) }

func (r *metadataRecorder) OnDelete(obj any) { r.add("delete %s", r.text(obj)) }
