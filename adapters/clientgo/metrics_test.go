package clientgo

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/metrics"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// requestCounter is a [metrics.ResultMetric].
type requestCounter struct {
	mu     sync.Mutex
	counts map[string]map[string]int // by host, and by method and code
}

func (c *requestCounter) Increment(_ context.Context, code, method, host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[host] == nil {
		c.counts[host] = map[string]int{}
	}
	c.counts[host][method+" "+code]++
}

func (c *requestCounter) of(server *lwtest.Server) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts[strings.TrimPrefix(server.URL, "http://")])
}

// storeVersions is a [cache.InformerMetricsProvider] that records the resourceVersion of each store.
type storeVersions struct {
	mu       sync.Mutex
	versions map[string]float64 // by informer name and resource
}

type storeVersion struct {
	of  *storeVersions
	key string
}

type unused struct{}

func (unused) Set(float64)     {}
func (unused) Observe(float64) {}

func (*storeVersions) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return unused{}
}
func (*storeVersions) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return unused{}
}

func (s *storeVersions) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return storeVersion{s, id.Name() + " " + id.GroupVersionResource().Resource}
}

func (s storeVersion) Set(value float64) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.versions[s.key] = value
}

func (s *storeVersions) get(key string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versions[key]
}

// client-go's metrics must count the requests and show the store's resourceVersion, as with client-go's own informers.
func TestMetricsOfClientGo(t *testing.T) {
	counter := &requestCounter{counts: map[string]map[string]int{}}
	metrics.Register(metrics.RegisterOpts{RequestResult: counter})
	stores := &storeVersions{versions: map[string]float64{}}
	cache.SetInformerMetricsProvider(stores)
	for library, create := range map[string]func(*rest.Config, *cache.InformerName) informers.SharedInformerFactory{
		"client-go": func(config *rest.Config, name *cache.InformerName) informers.SharedInformerFactory {
			return informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithInformerName(name))
		},
		"listwatch": func(config *rest.Config, name *cache.InformerName) informers.SharedInformerFactory {
			factory, err := NewSharedInformerFactory(config, 0, nil, informers.WithInformerName(name))
			require.NoError(t, err)
			return factory
		},
	} {
		t.Run(library, func(t *testing.T) {
			server := startServer(t)
			_, err := server.Put("services", `{"metadata":{"name":"a","namespace":"shop"}}`) // an empty streaming list would cause another list
			require.NoError(t, err)
			putPod(t, server, "a", "n1")
			name, err := cache.NewInformerName(library)
			require.NoError(t, err)
			defer name.Release()
			factory := create(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, name)
			pods := factory.Core().V1().Pods().Informer()
			services := factory.Core().V1().Services().Informer()
			start(t, pods)
			start(t, services)
			waitSynced(t, pods.HasSyncedChecker(), services.HasSyncedChecker())
			require.Equal(t, map[string]int{"GET 200": 2}, counter.of(server))
			key := library + " pods"
			eventually(t, func() bool { return stores.get(key) == 3 })
			putPod(t, server, "b", "n1")
			eventually(t, func() bool { return stores.get(key) == 4 })
			server.Fail(isWatch, 1, lwtest.Refuse(&lw.StatusError{Code: 500, Reason: "InternalError", Message: "no"}))
			server.CloseWatches()
			eventually(t, func() bool { return counter.of(server)["GET 500"] == 1 })
		})
	}
}
