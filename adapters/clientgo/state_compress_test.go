package clientgo

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// jsonPods is like protobufPods, but responds with JSON, and no watch fails.
type jsonPods []corev1.Pod

func (p jsonPods) RoundTrip(request *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	respond := func(code int, body io.Reader) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(body), Request: request}, nil
	}
	switch query := request.URL.Query(); {
	case query.Get("sendInitialEvents") != "":
		return respond(http.StatusUnprocessableEntity, strings.NewReader(""))
	case query.Get("watch") == "":
		list, err := json.Marshal(&corev1.PodList{
			TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "5"}, Items: p,
		})
		if err != nil {
			return nil, err
		}
		return respond(http.StatusOK, strings.NewReader(string(list)))
	}
	return respond(http.StatusOK, &quiet{ctx: request.Context(), end: time.After(5 * time.Minute)})
}

// The first informer saves protobuf. The second uses Compress and must not report this file as damaged. The third
// does not use Compress and must still find the file.
func TestCompressCanBeSwitched(t *testing.T) {
	folder := t.TempDir()
	failures := reportedErrors(t)
	run := func(server http.RoundTripper, compress bool) {
		synctest.Test(t, func(t *testing.T) {
			clientset := simulatedClient(t, server, protobufConfig("http://simulated"))
			lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "", fields.Everything())
			informer := NewSharedIndexInformerWithOptions(lister, &corev1.Pod{}, InformerOptions{Extras: Extras{StateDir: folder, Compress: compress}})
			require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
			ctx, stop := context.WithCancel(t.Context())
			go informer.RunWithContext(ctx)
			time.Sleep(time.Second) // without a server, restored objects are readable, but the informer never syncs
			synctest.Wait()
			require.Equal(t, "n1", getPod(t, informer, "shop/a").Spec.NodeName)
			stop()
			synctest.Wait()
		})
	}
	pods := []corev1.Pod{protobufPod("a")}
	run(protobufPods{pods, new(atomic.Int32)}, false)
	run(jsonPods(pods), true)
	require.Empty(t, failures())
	run(noServer{}, true)
	run(noServer{}, false)
	require.Empty(t, failures())
}
