package clientgo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// protobufPods is a fake API server. Its first watch fails because the resourceVersion has expired, so an informer
// lists twice.
type protobufPods struct {
	items   []corev1.Pod
	watches *atomic.Int32
}

func (p protobufPods) RoundTrip(request *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {runtime.ContentTypeProtobuf}}
	respond := func(code int, body io.Reader) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(body), Request: request}, nil
	}
	switch query := request.URL.Query(); {
	case request.Header.Get("Accept") != runtime.ContentTypeProtobuf:
		return nil, errors.New("the request does not ask for protobuf")
	case query.Get("sendInitialEvents") != "":
		return respond(http.StatusUnprocessableEntity, &bytes.Buffer{})
	case query.Get("watch") == "":
		return respond(http.StatusOK, bytes.NewReader(p.list()))
	case p.watches.Add(1) == 1:
		return respond(http.StatusGone, &bytes.Buffer{})
	}
	return respond(http.StatusOK, &quiet{ctx: request.Context(), end: time.After(5 * time.Minute)})
}

func (p protobufPods) list() []byte {
	return encodeProtobuf(&corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}, Items: p.items})
}

func encodeProtobuf(object runtime.Object) []byte {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	body, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), object)
	if err != nil {
		panic(err)
	}
	return body
}

func protobufPod(name string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", UID: "u-1", ResourceVersion: "5", Labels: map[string]string{"app": "web"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
		Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c"}}},
	}
}

// simulate runs an informer in simulated time until it has synced and its second watch is open. Without a server, it
// runs the informer for a minute. It returns the informer and a function that stops it.
func simulate(t *testing.T, server http.RoundTripper, prepare func(*informer)) (*informer, func()) {
	clientset := simulatedClient(t, server, protobufConfig("http://simulated"))
	lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "", fields.Everything())
	informer := NewSharedIndexInformer(lister, &corev1.Pod{}, 0, nil).(*informerType)
	prepare(informer)
	ctx, stop := context.WithCancel(t.Context())
	go informer.RunWithContext(ctx)
	if _, down := server.(noServer); !down {
		<-informer.HasSyncedChecker().Done()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	return informer, func() { stop(); synctest.Wait() }
}

// TestProtobufObjects checks that the store contains protobuf and that decoded objects equal the server's objects.
func TestProtobufObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := protobufPods{[]corev1.Pod{protobufPod("a"), protobufPod("b")}, new(atomic.Int32)}
		var events recorder
		informer, stop := simulate(t, server, func(i *informer) {
			i.inner.Handle(i.adapt(&events), nil)
		})
		defer stop()
		require.EqualValues(t, 2, server.watches.Load())
		require.Equal(t, []string{"add a@n1 true", "add b@n1 true"}, events.all(), "the second list must not cause events")
		o, ok := informer.inner.Store().Get(lw.Key{Namespace: "shop", Name: "a"})
		require.True(t, ok)
		require.IsType(t, &message{}, o.encoded)
		require.Equal(t, "shop/a u-1 5", o.Key().String()+" "+o.GetUID()+" "+o.GetResourceVersion())
		got, _, err := informer.GetStore().GetByKey("shop/a")
		require.NoError(t, err)
		want := protobufPod("a")
		require.Equal(t, &want, got)
	})
}

// An informer with a transform must not reuse stored objects.
func TestUnchangedMessagesAreKept(t *testing.T) {
	clientset := simulatedClient(t, protobufPods{[]corev1.Pod{protobufPod("a")}, nil}, protobufConfig("http://simulated"))
	from := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "", fields.Everything())
	informer := NewSharedIndexInformer(from, &corev1.Pod{}, 0, nil).(*informerType)
	source := &client{informer: informer, opts: lw.ClientOptions{KeepManagedFields: true}, source: lw.Source[*object]{StreamsLists: true}}
	list := func(stored *object) *object { return listStored(t, source, stored) }
	first := list(nil)
	require.Same(t, first, list(first))
	other, err := newMessage([]byte("shop a u-1 5"), nil, nil, nil, nil)
	require.NoError(t, err)
	require.Equal(t, first.Raw(), list(&object{encoded: other}).Raw(), "an object with different bytes must be decoded")
	require.NoError(t, informer.SetTransform(func(obj any) (any, error) { return obj, nil }))
	require.NotSame(t, first, list(first))
}

func TestStoresTransformedObjectsAsProtobuf(t *testing.T) {
	for name, test := range map[string]struct {
		result func(*corev1.Pod) any
		bytes  bool
	}{
		"transform to the same type": {func(pod *corev1.Pod) any { return pod }, true},
		"transform to another type":  {func(pod *corev1.Pod) any { return &podAndName{*pod, pod.Name} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := protobufPods{[]corev1.Pod{protobufPod("a")}, new(atomic.Int32)}
				informer, stop := simulate(t, server, func(i *informer) {
					require.NoError(t, i.SetTransform(func(obj any) (any, error) {
						pod := obj.(*corev1.Pod)
						pod.Spec.NodeName, pod.ManagedFields = "transformed", nil
						return test.result(pod), nil
					}))
				})
				defer stop()
				o, ok := informer.inner.Store().Get(lw.Key{Namespace: "shop", Name: "a"})
				require.True(t, ok)
				require.IsType(t, &message{}, o.encoded)
				decoded, err := informer.decoder.decode(o.encoded)
				require.NoError(t, err)
				require.Equal(t, test.bytes, decoded.(*corev1.Pod).Spec.NodeName == "transformed")
				got, _, err := informer.GetStore().GetByKey("shop/a")
				require.NoError(t, err)
				require.Equal(t, "a@transformed", describe(got))
			})
		})
	}
}

// TestTransformToEmptyMap checks that an empty map in a transformed object becomes nil when the object is stored.
// docs/drop-in.md documents this difference.
func TestTransformToEmptyMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := protobufPods{[]corev1.Pod{protobufPod("a")}, new(atomic.Int32)}
		informer, stop := simulate(t, server, func(i *informer) {
			require.NoError(t, i.SetTransform(func(obj any) (any, error) {
				obj.(*corev1.Pod).Labels = map[string]string{}
				return obj, nil
			}))
		})
		defer stop()
		o, ok := informer.inner.Store().Get(lw.Key{Namespace: "shop", Name: "a"})
		require.True(t, ok)
		decoded, err := informer.decoder.decode(o.encoded)
		require.NoError(t, err)
		require.Nil(t, decoded.(*corev1.Pod).Labels)
	})
}

func TestMalformedMessageIsAnError(t *testing.T) {
	_, err := newMessage([]byte("shop a 5"), []byte("shop"), []byte("a"), nil, []byte("6"))
	require.ErrorContains(t, err, "does not contain the metadata")
	d := newDecoder(&corev1.Pod{})
	_, err = d.decode(&message{raw: "\x0a\xff"})
	require.Error(t, err)
}
