package clientgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// wantsProtobuf reports whether an Accept header from package lw prefers protobuf.
func wantsProtobuf(accept string) bool {
	return strings.HasPrefix(accept, "application/vnd.kubernetes.protobuf")
}

func simulatedClient(t *testing.T, server http.RoundTripper, config *rest.Config) kubernetes.Interface {
	clientset, err := kubernetes.NewForConfigAndClient(config, WrapHTTPClient(&http.Client{Transport: server}))
	require.NoError(t, err)
	return clientset
}

// protobufRequests returns how many protobuf and JSON requests the server has received.
func protobufRequests(server *lwtest.Server) (protobuf, json int) {
	for _, request := range server.Requests(nil) {
		if strings.HasPrefix(request.Header.Get("Accept"), "application/vnd.kubernetes.protobuf") {
			protobuf++
		} else {
			json++
		}
	}
	return protobuf, json
}

// TestFallsBackToJSONAfter406 also checks that the 406 response is not reported as an interruption.
func TestFallsBackToJSONAfter406(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	informer := podInformer(t, server, nil)
	var interruptions atomic.Int32
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) { interruptions.Add(1) }))
	var handler recorder
	_, err := informer.AddEventHandler(&handler)
	require.NoError(t, err)
	stop := start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	putPod(t, server, "b", "n2")
	handler.wait(t, "add a@n1 true", "add b@n2 false")
	require.Zero(t, interruptions.Load())
	stop()
	protobuf, json := protobufRequests(server)
	require.Equal(t, 1, protobuf)
	require.NotZero(t, json)
}

func TestServerThatIgnoresAccept(t *testing.T) {
	for name, header := range map[string]http.Header{
		"JSON":            {"Content-Type": {"application/json"}},
		"no content type": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				informer, stop := simulate(t, onePod{header}, func(*informer) {})
				defer stop()
				require.Equal(t, []string{"shop/a"}, informer.GetStore().ListKeys())
			})
		})
	}
}

// midway is a fake API server that supports protobuf only until its first watch, which ends with a 406 error.
type midway struct {
	protobufPods
	accepts chan string // Accept headers of the watch requests
}

func (m midway) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if query.Get("watch") != "" && query.Get("sendInitialEvents") == "" {
		m.accepts <- request.Header.Get("Accept")
	}
	if !wantsProtobuf(request.Header.Get("Accept")) {
		return onePod{http.Header{}}.RoundTrip(request)
	}
	response, err := m.protobufPods.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusGone {
		failure := metav1.WatchEvent{Type: "ERROR", Object: runtime.RawExtension{
			Raw: encodeProtobuf(&metav1.Status{Status: "Failure", Code: http.StatusNotAcceptable}),
		}}
		event, err := failure.Marshal()
		body := append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
		response.StatusCode, response.Body = http.StatusOK, io.NopCloser(bytes.NewReader(body))
		return response, err
	}
	return response, err
}

func TestServerStopsSupportingProtobuf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := midway{protobufPods{[]corev1.Pod{protobufPod("a")}, new(atomic.Int32)}, make(chan string, 100)}
		var rejections atomic.Int32
		informer, stop := simulate(t, server, func(i *informer) {
			i.extras.Trace = traceInterruptions(func(err error) {
				if status, ok := errors.AsType[*lw.StatusError](err); ok && status.Code == http.StatusNotAcceptable {
					rejections.Add(1)
				}
			})
		})
		defer stop()
		require.EqualValues(t, 1, rejections.Load())
		require.Len(t, server.accepts, 2)
		require.True(t, wantsProtobuf(<-server.accepts))
		require.False(t, wantsProtobuf(<-server.accepts))
		require.Equal(t, []string{"shop/a"}, informer.GetStore().ListKeys())
	})
}

func TestConfigWithoutProtobuf(t *testing.T) {
	for name, content := range map[string]rest.ContentConfig{
		"AcceptContentTypes": {AcceptContentTypes: "application/json"},
		"ContentType":        {ContentType: "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			config := &rest.Config{Host: server.URL, ContentConfig: content}
			lister := cache.NewListWatchFromClient(wrappedClient(t, config).CoreV1().RESTClient(), "pods", "", fields.Everything())
			factory, err := NewSharedInformerFactory(config, 0, nil)
			require.NoError(t, err)
			for _, informer := range []cache.SharedIndexInformer{
				NewSharedIndexInformer(lister, &corev1.Pod{}, 0, nil), factory.Core().V1().Pods().Informer(),
			} {
				start(t, informer)
				waitSynced(t, informer.HasSyncedChecker())
			}
			protobuf, json := protobufRequests(server)
			require.Zero(t, protobuf)
			require.NotZero(t, json)
		})
	}
}

func TestFactoryRequestsProtobuf(t *testing.T) {
	server := startServer(t)
	config := &rest.Config{Host: server.URL}
	typed, err := NewSharedInformerFactory(config, 0, nil)
	require.NoError(t, err)
	dynamic, err := NewDynamicSharedInformerFactory(config, 0, nil)
	require.NoError(t, err)
	metadata, err := NewMetadataSharedInformerFactory(config, 0, nil)
	require.NoError(t, err)
	for n, informer := range []cache.SharedIndexInformer{
		dynamic.ForResource(pods).Informer(), metadata.ForResource(pods).Informer(), typed.Core().V1().Pods().Informer(),
	} {
		start(t, informer)
		waitSynced(t, informer.HasSyncedChecker())
		protobuf, _ := protobufRequests(server)
		require.Equal(t, n == 2, protobuf > 0)
	}
}

func TestResourceOfPath(t *testing.T) {
	type result struct {
		resource lw.Resource
		version  string
	}
	pods := lw.Resource{Version: "v1", Plural: "pods"}
	deployments := lw.Resource{Group: "apps", Version: "v1", Plural: "deployments"}
	inNamespace := func(resource lw.Resource, namespace string) lw.Resource {
		resource.Namespace = namespace
		return resource
	}
	for path, want := range map[string]result{
		"/api/v1/pods":                                         {pods, "/api/v1"},
		"/api/v1/namespaces":                                   {lw.Resource{Version: "v1", Plural: "namespaces"}, "/api/v1"},
		"/api/v1/namespaces/shop/pods":                         {inNamespace(pods, "shop"), "/api/v1"},
		"/apis/apps/v1/deployments":                            {deployments, "/apis/apps/v1"},
		"/k8s/api/c-1/apis/apps/v1/namespaces/api/deployments": {inNamespace(deployments, "api"), "/k8s/api/c-1/apis/apps/v1"},
		"/custom/path":                                         {resource: lw.Resource{Raw: "/custom/path"}},
		"/path":                                                {resource: lw.Resource{Raw: "/path"}},
	} {
		resource, version := (&collection{path: path}).resource()
		require.Equal(t, want, result{resource, version}, path)
	}
}
