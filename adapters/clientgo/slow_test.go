package clientgo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// slowLink is an [http.RoundTripper] that delivers responses at 100 bytes per second.
type slowLink struct{ next http.RoundTripper }

func (s slowLink) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.next.RoundTrip(request)
	if err == nil {
		response.Body = &slowBody{response.Body, request.Context()}
	}
	return response, err
}

type slowBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b *slowBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		return b.ReadCloser.Read(p[:min(len(p), 100)])
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	}
}

// largePods is a fake API server with one Pod of 15 kB. A watch moves the Pod to another node.
type largePods struct{ streams bool }

func (l largePods) RoundTrip(request *http.Request) (*http.Response, error) {
	respond := func(code int, body io.Reader) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: request}, nil
	}
	added, modified := largePod("n1", 5), largePod("n2", 6)
	event := `{"type":"MODIFIED","object":` + modified + "}\n"
	open := &quiet{ctx: request.Context(), end: time.After(time.Hour)}
	switch query := request.URL.Query(); {
	case query.Get("sendInitialEvents") != "" && !l.streams:
		return respond(http.StatusUnprocessableEntity, strings.NewReader(""))
	case query.Get("sendInitialEvents") != "":
		mark := `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
		return respond(http.StatusOK, io.MultiReader(strings.NewReader(`{"type":"ADDED","object":`+added+"}\n"+mark+event), open))
	case query.Get("watch") == "":
		return respond(http.StatusOK, strings.NewReader(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[`+added+"]}"))
	}
	return respond(http.StatusOK, io.MultiReader(strings.NewReader(event), open))
}

func largePod(node string, version int) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","uid":"1","resourceVersion":"%d","annotations":{"x":%q}},"spec":{"nodeName":%q}}`,
		version, strings.Repeat("x", 15_000), node)
}

// At 100 bytes per second, an object of 15 kB takes longer to arrive than any idle timeout. The informer must
// receive it at the first attempt, both in lists and in watches.
func TestLargeObjectsArriveOverSlowLink(t *testing.T) {
	t.Parallel()
	protobuf := protobufPods{[]corev1.Pod{protobufPod("a")}, new(atomic.Int32)}
	protobuf.items[0].Annotations = map[string]string{"x": strings.Repeat("x", 15_000)}
	protobuf.watches.Store(1) // protobufPods would fail the first watch
	for name, c := range map[string]struct {
		server http.RoundTripper
		errors []string
	}{
		"streaming list": {largePods{streams: true}, []string{}},
		"list":           {largePods{}, []string{"the server answered 422"}}, // no streaming lists
		"protobuf list":  {protobuf, []string{"the server answered 422"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clientset := simulatedClient(t, slowLink{c.server}, protobufConfig("http://simulated"))
				lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "", fields.Everything())
				var errs recorder
				informer := NewSharedIndexInformerWithOptions(lister, &corev1.Pod{}, InformerOptions{Extras: Extras{
					Trace: traceInterruptions(func(err error) { errs.add("%v", err) }),
				}})
				var handler recorder
				_, err := informer.AddEventHandler(&handler)
				require.NoError(t, err)
				stop := start(t, informer)
				want := []string{"add a@n1 true"}
				if _, ok := c.server.(largePods); ok {
					want = append(want, "update a@n1 a@n2")
				}
				for began := time.Now(); len(handler.all()) < len(want); time.Sleep(time.Second) {
					require.Less(t, time.Since(began), 6*time.Minute)
				}
				require.Equal(t, want, handler.all())
				require.Equal(t, c.errors, errs.all())
				stop()
			})
		})
	}
}
