package clients

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// goClient runs client-go's dynamic informers.
type goClient struct {
	*testing.T
	stores map[string]cache.Store
}

func startGoClient(t *testing.T, url string) *goClient {
	dynamicClient, err := dynamic.NewForConfig(&rest.Config{Host: url})
	require.NoError(t, err)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	stores := map[string]cache.Store{}
	for resource := range paths {
		plural, group, _ := strings.Cut(resource, ".")
		stores[resource] = factory.ForResource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}).Informer().GetStore()
	}
	stop := make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	factory.Start(stop)
	for resource, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		require.True(t, synced, resource)
	}
	return &goClient{t, stores}
}

func (c *goClient) held(resource string) map[string]string {
	held := map[string]string{}
	for _, object := range c.stores[resource].List() {
		object := object.(*unstructured.Unstructured)
		held[object.GetNamespace()+"/"+object.GetName()] = object.GetResourceVersion()
	}
	return held
}

// requireContents checks that each object on the server equals its cached copy in all fields.
func (c *goClient) requireContents(server *lwtest.Server) {
	c.Helper()
	for resource, store := range c.stores {
		_, objects := server.State(resource)
		for key, object := range objects {
			var want unstructured.Unstructured
			require.NoError(c, want.UnmarshalJSON([]byte(object.Raw())))
			held, exists, err := store.GetByKey(key)
			require.NoError(c, err)
			require.True(c, exists, key)
			require.Equal(c, want.Object, held.(*unstructured.Unstructured).Object, key)
		}
	}
}

func TestClientGo(t *testing.T) {
	for name, test := range map[string]struct {
		opts         lwtest.Options
		first, again []string
	}{
		"streaming lists": {
			first: []string{"stream"},
			again: []string{"expired watch", "stream"},
		},
		"no streaming lists": {
			opts:  lwtest.Options{NoStreamingLists: true},
			first: []string{"stream", "list", "watch"}, // the server rejects the request for a streaming list
			again: []string{"expired watch", "stream", "list", "watch"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // this test mostly waits for client-go
			c := newCourse(t, &test.opts)
			client := startGoClient(t, c.server.URL)
			c.client, c.first, c.again = client, test.first, test.again
			c.run()
			client.requireContents(c.server)
		})
	}
}
