package clients

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// follow runs an informer for a resource until the test ends. It waits until the informer has synced, and returns
// its store.
func follow[T lw.Keyed](t *testing.T, server *lwtest.Server, of lw.Resource, codec lw.Codec[T]) *cache.Store[T] {
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	t.Cleanup(func() { transport.Close() })
	client, err := lw.NewClient(transport, of, codec, nil)
	require.NoError(t, err)
	informer := cache.NewInformer(client, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		informer.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	<-informer.Store().Synced()
	return informer.Store()
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 30*time.Second, time.Millisecond)
}

// TestTypedPods checks that the codec decodes Pods from lists and watches in the same way as encoding/json.
func TestTypedPods(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{NoStreamingLists: true}) // unlike streaming lists, ordinary lists omit the kind and apiVersion of their items
	require.NoError(t, err)
	defer server.Close()
	pods := sample.Pods(1, 20)
	create := func(pod sample.Pod) {
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(pod.JSON()), &object))
		delete(object["metadata"].(map[string]any), "resourceVersion")
		_, err := server.Put("pods", object)
		require.NoError(t, err)
	}
	for _, pod := range pods[:10] {
		create(pod)
	}
	store := follow(t, server, lw.Pods(""), codec.JSON[*corev1.Pod](nil))
	for _, pod := range pods[10:] {
		create(pod)
	}
	eventually(t, func() bool { return store.Len() == len(pods) })

	_, state := server.State("pods")
	require.Len(t, state, len(pods))
	for _, pod := range store.List() {
		want := &corev1.Pod{}
		require.NoError(t, json.Unmarshal([]byte(state[pod.Namespace+"/"+pod.Name].Raw()), want))
		require.Nil(t, pod.ManagedFields)
		want.ManagedFields = nil
		require.Equal(t, metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, pod.TypeMeta)
		want.TypeMeta = pod.TypeMeta
		require.Equal(t, want, pod)
		require.Equal(t, "500m", pod.Spec.Containers[0].Resources.Limits.Cpu().String())
		require.False(t, pod.CreationTimestamp.IsZero())
	}
}

func TestTypedTransform(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	_, err = server.Put("pods", `{"metadata":{"name":"web-0","annotations":{"large":"text"}},"status":{"phase":"Running"}}`)
	require.NoError(t, err)
	store := follow(t, server, lw.Pods("default"), codec.JSON(func(pod *corev1.Pod) *corev1.Pod {
		pod.Annotations = nil
		return pod
	}))
	for _, pod := range store.List() {
		require.Nil(t, pod.Annotations)
		require.Equal(t, corev1.PodRunning, pod.Status.Phase)
	}
	require.Equal(t, 1, store.Len())
}

// decode decodes the JSON of an object into a value of type T.
func decode[T any](t *testing.T, text string) (decoded T, err error) {
	object, err := lw.ParseObject([]byte(text))
	require.NoError(t, err)
	err = codec.Into(object, &decoded)
	return decoded, err
}

func TestKubernetesTypes(t *testing.T) {
	pod, err := decode[*corev1.Pod](t, `{"kind":"Pod","apiVersion":"v1",
		"metadata":{"name":"p","generation":9007199254740993,"creationTimestamp":"2026-03-01T12:00:03Z","deletionTimestamp":null},
		"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1500m","memory":"1Gi","example.com/gpu":2}},
			"livenessProbe":{"httpGet":{"port":"http"}},"readinessProbe":{"httpGet":{"port":8080}}}],
			"activeDeadlineSeconds":9223372036854775807}}`)
	require.NoError(t, err)
	require.Equal(t, "Pod", pod.Kind)
	require.EqualValues(t, 1<<53+1, pod.Generation)
	require.EqualValues(t, 1<<63-1, *pod.Spec.ActiveDeadlineSeconds)
	require.True(t, pod.CreationTimestamp.Equal(&metav1.Time{Time: time.Date(2026, 3, 1, 12, 0, 3, 0, time.UTC)}))
	require.Nil(t, pod.DeletionTimestamp)
	c := pod.Spec.Containers[0]
	require.Zero(t, c.Resources.Limits.Cpu().Cmp(resource.MustParse("1.5")))
	require.EqualValues(t, 1<<30, c.Resources.Limits.Memory().Value())
	gpu := c.Resources.Limits["example.com/gpu"]
	require.EqualValues(t, 2, gpu.Value())
	require.Equal(t, intstr.FromString("http"), c.LivenessProbe.HTTPGet.Port)
	require.Equal(t, intstr.FromInt32(8080), c.ReadinessProbe.HTTPGet.Port)

	widget, err := decode[*unstructured.Unstructured](t, `{"kind":"Widget","apiVersion":"x/v1","spec":{"large":9007199254740993}}`)
	require.NoError(t, err)
	require.EqualValues(t, 1<<53+1, widget.Object["spec"].(map[string]any)["large"])
}

// The error must contain the field's path but not its value, which may be secret.
func TestKubernetesFieldErrors(t *testing.T) {
	for _, test := range []struct {
		decode func(string) error
		text   string
		want   string
	}{
		{deployment(t), `{"spec":{"replicas":"s3cret"}}`, "field spec.replicas: expected int32, found a string"},
		{deployment(t), `{"spec":{"replicas":3000000000}}`, "field spec.replicas: expected int32, found a number that does not fit"},
		{pod(t), `{"metadata":{"creationTimestamp":"s3cret"}}`, "field metadata.creationTimestamp: expected v1.Time, found a string"},
		{pod(t), `{"spec":{"containers":[{"name":"a"},{"resources":{"limits":{"cpu":"1","memory":"1","example.com/gpu":"s3cret"}}}]}}`,
			`field spec.containers[1].resources.limits.example\.com/gpu: expected resource.Quantity, found a string`},
		{pod(t), `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}}`,
			"field spec.containers[0].livenessProbe.httpGet.port: expected intstr.IntOrString, found a boolean"},
		{secret(t), `{"kind":"Secret","data":{"password":"s3cret"}}`, "field data.password: expected []uint8, found a string that is not base64"},
	} {
		err := test.decode(test.text)
		require.EqualError(t, err, test.want)
		require.Nil(t, errors.Unwrap(err))
	}
}

func pod(t *testing.T) func(string) error        { return failing[*corev1.Pod](t) }
func secret(t *testing.T) func(string) error     { return failing[*corev1.Secret](t) }
func deployment(t *testing.T) func(string) error { return failing[*appsv1.Deployment](t) }

func failing[T any](t *testing.T) func(string) error {
	return func(text string) error {
		_, err := decode[T](t, text)
		return err
	}
}

// loop is an lw.Transport whose response body repeats the same events forever.
type loop struct {
	text []byte
	at   int
}

func (l *loop) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(l)}, nil
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	if l.at += n; l.at == len(l.text) {
		l.at = 0
	}
	return n, nil
}

// standard is a codec that decodes Pods with encoding/json.
type standard struct{ lw.Codec[*corev1.Pod] }

func (standard) Decode(s *lw.Scanned) (*corev1.Pod, error) {
	object, err := lw.RawCodec{}.Decode(s)
	if err != nil {
		return nil, err
	}
	pod := new(corev1.Pod)
	return pod, json.Unmarshal([]byte(object.Raw()), pod)
}

// BenchmarkCodecs measures how fast lw.Client decodes watch events for Pods with each codec.
func BenchmarkCodecs(b *testing.B) {
	b.Run("raw", func(b *testing.B) { benchmarkCodec(b, lw.RawCodec{}) })
	b.Run("json-iterator", func(b *testing.B) { benchmarkCodec(b, codec.JSON[*corev1.Pod](nil)) })
	b.Run("encoding-json", func(b *testing.B) { benchmarkCodec(b, standard{codec.JSON[*corev1.Pod](nil)}) })
}

func benchmarkCodec[T lw.Keyed](b *testing.B, codec lw.Codec[T]) {
	var text []byte
	for i, pod := range sample.Pods(7, 500) {
		pod.ResourceVersion = uint64(i + 1)
		text = append(text, pod.Event("MODIFIED")...)
	}
	client, err := lw.NewClient(&loop{text: text}, lw.Pods(""), codec, nil)
	require.NoError(b, err)
	b.SetBytes(int64(len(text) / 500))
	b.ReportAllocs()
	left := b.N
	for event, err := range client.Watch(b.Context(), lw.ListOptions{}) {
		if err != nil {
			b.Fatal(err)
		}
		if event.Type == lw.WatchStarted {
			b.ResetTimer()
			continue
		}
		if left--; left == 0 {
			break
		}
	}
}
