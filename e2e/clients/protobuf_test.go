package clients

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// response is an lw.Transport that returns the same body for every request.
type response struct{ body io.Reader }

func (r response) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(r.body)}, nil
}

// rejection is an lw.Transport that rejects every request with code 410. Its bytes are the response body.
type rejection []byte

func (r rejection) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return nil, lw.ReadStatusError(410, "", bytes.NewReader(r), nil)
}

// rawMessage is an undecoded object with the metadata that the client needs.
type rawMessage struct {
	namespace, name, uid, resourceVersion string
	message                               []byte
}

func (m *rawMessage) GetNamespace() string       { return m.namespace }
func (m *rawMessage) GetName() string            { return m.name }
func (m *rawMessage) GetResourceVersion() string { return m.resourceVersion }

// rawCodec copies the protobuf message of each object.
type rawCodec struct{}

func (rawCodec) Decode(s *lw.Scanned) (*rawMessage, error) {
	return &rawMessage{
		string(s.Namespace()), string(s.Name()), string(s.UID()), string(s.ResourceVersion()), bytes.Clone(s.Raw()),
	}, nil
}

func (rawCodec) Identity() lw.Identity[*rawMessage] {
	return lw.Identity[*rawMessage]{UID: func(m *rawMessage) string { return m.uid }}
}

var protobufSerializer = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// encode encodes an object in protobuf as a kube-apiserver does.
func encode(t testing.TB, object runtime.Object) []byte {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	require.NoError(t, err)
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	var b bytes.Buffer
	require.NoError(t, protobufSerializer.Encode(object, &b))
	return b.Bytes()
}

// watchFrame encodes a watch event as a watch response contains it: the length of the event, and then the event in
// protobuf.
func watchFrame(t testing.TB, eventType string, object []byte) []byte {
	event := metav1.WatchEvent{Type: eventType, Object: runtime.RawExtension{Raw: object}}
	message, err := event.Marshal()
	require.NoError(t, err)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

// watch returns the first event or error that a client reports for a watch response with the given body. It ignores
// lw.WatchStarted.
func watch(t testing.TB, body []byte) (event lw.Event[*rawMessage], err error) {
	client, err := lw.NewClient(response{bytes.NewReader(body)}, lw.Pods(""), rawCodec{}, &lw.ClientOptions{Protobuf: true})
	require.NoError(t, err)
	for event, err = range client.Watch(t.Context(), lw.ListOptions{}) {
		if event.Type != lw.WatchStarted {
			return event, err
		}
	}
	return event, err
}

// TestProtobufGoldenObjects compares the client with apimachinery for an object of every built-in type.
func TestProtobufGoldenObjects(t *testing.T) {
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "testdata", "HEAD", "*.pb"))
	require.NoError(t, err)
	compared := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		object, _, err := protobufSerializer.Decode(data, nil, nil)
		if runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) {
			continue // a type that cannot be listed, for example AdmissionReview
		}
		require.NoError(t, err, file)
		meta, ok := object.(metav1.Object)
		if !ok {
			continue // a type without metadata, for example PodExecOptions
		}
		require.NotEmpty(t, meta.GetManagedFields(), file)
		meta.SetManagedFields(nil)
		event, err := watch(t, watchFrame(t, "ADDED", data))
		require.NoError(t, err, file)
		got := event.Object
		require.Equal(t, []string{meta.GetNamespace(), meta.GetName(), string(meta.GetUID()), meta.GetResourceVersion()},
			[]string{got.namespace, got.name, got.uid, got.resourceVersion}, file)
		want, err := object.(interface{ Marshal() ([]byte, error) }).Marshal()
		require.NoError(t, err)
		require.Equal(t, want, got.message, file)
		compared++
	}
	require.Greater(t, compared, 50)
}

// TestProtobufList checks that the client removes metadata.managedFields from list items and keeps all other
// fields.
func TestProtobufList(t *testing.T) {
	remaining := int64(7)
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "token", RemainingItemCount: &remaining}}
	for _, name := range []string{"a", "b", strings.Repeat("c", 300)} {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", ResourceVersion: "5"}}
		pod.Spec.NodeName = strings.Repeat("n", 1000)
		list.Items = append(list.Items, pod)
		pod.Name += "-managed"
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("m", 200)}, {Manager: "x"}}
		list.Items = append(list.Items, pod)
	}
	body := encode(t, list)
	for name, reader := range map[string]io.Reader{"whole body": bytes.NewReader(body), "one byte at a time": iotest.OneByteReader(bytes.NewReader(body))} {
		t.Run(name, func(t *testing.T) {
			client, err := lw.NewClient(response{reader}, lw.Pods(""), codec.Protobuf[*corev1.Pod](), &lw.ClientOptions{Protobuf: true})
			require.NoError(t, err)
			var pods []corev1.Pod
			page := client.List(t.Context(), lw.ListOptions{})
			for pod, err := range page.Objects {
				require.NoError(t, err)
				pods = append(pods, *pod)
			}
			require.Equal(t, "12", page.ResourceVersion)
			require.Equal(t, "token", page.Continue)
			require.EqualValues(t, 7, page.RemainingItemCount)
			require.Len(t, pods, len(list.Items))
			for i, pod := range pods {
				want := list.Items[i]
				want.ManagedFields = nil
				require.Equal(t, want, pod)
			}
		})
	}
}

func TestProtobufListOfAnotherKindIsRejected(t *testing.T) {
	err := listError(t, encode(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	require.ErrorIs(t, err, lw.ErrInvalidResponse)
	err = listError(t, []byte("<html>"))
	require.ErrorIs(t, err, lw.ErrInvalidResponse)
}

// listError returns the error that a client reports for a Pod list with the given response body, or nil.
func listError(t testing.TB, body []byte) (err error) {
	client, err := lw.NewClient(response{bytes.NewReader(body)}, lw.Pods(""), rawCodec{}, &lw.ClientOptions{Protobuf: true, MaxFrame: 1 << 20})
	require.NoError(t, err)
	page := client.List(t.Context(), lw.ListOptions{})
	for _, err = range page.Objects {
	}
	return err
}

// TestTruncatedProtobufList truncates a list at every byte. The client must return an error each time.
func TestTruncatedProtobufList(t *testing.T) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "12"}, Items: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}}
	body := encode(t, list)
	trailer := len("\x1a\x00\x22\x00") // the empty fields contentEncoding and contentType, which the client does not need
	require.NoError(t, listError(t, body))
	for n := range len(body) - trailer {
		require.ErrorIs(t, listError(t, body[:n]), io.ErrUnexpectedEOF, n)
	}
}

func TestProtobufEvents(t *testing.T) {
	bookmark := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9"}}
	event, err := watch(t, watchFrame(t, "BOOKMARK", encode(t, bookmark)))
	require.NoError(t, err)
	require.Equal(t, lw.Event[*rawMessage]{Type: lw.Bookmark, ResourceVersion: "9"}, event)

	bookmark.Annotations = map[string]string{"other": "true", metav1.InitialEventsAnnotationKey: "true"}
	event, err = watch(t, watchFrame(t, "BOOKMARK", encode(t, bookmark)))
	require.NoError(t, err)
	require.Equal(t, lw.Synced, event.Type)

	status := &metav1.Status{
		Status: "Failure", Message: "no", Reason: "Expired", Code: 410,
		Details: &metav1.StatusDetails{Name: "n", Group: "g", Kind: "k", RetryAfterSeconds: 3, Causes: []metav1.StatusCause{{Type: "t", Message: "m", Field: "f"}}},
	}
	_, err = watch(t, watchFrame(t, "ERROR", encode(t, status)))
	require.ErrorIs(t, err, lw.ErrExpired)
	fromWatch := new(lw.StatusError)
	require.ErrorAs(t, err, &fromWatch)
	text, jsonErr := json.Marshal(status)
	require.NoError(t, jsonErr)
	want := lw.ReadStatusError(410, "", strings.NewReader(strings.Replace(string(text), "{", `{"kind":"Status",`, 1)), nil)
	require.Equal(t, want, fromWatch)
	client, err := lw.NewClient(rejection(encode(t, status)), lw.Pods(""), rawCodec{}, &lw.ClientOptions{Protobuf: true})
	require.NoError(t, err)
	for _, err := range client.List(t.Context(), lw.ListOptions{}).Objects {
		require.Equal(t, want, err)
	}
	for _, err := range client.Watch(t.Context(), lw.ListOptions{}) {
		require.Equal(t, want, err)
	}
}

func TestTruncatedProtobufEvent(t *testing.T) {
	frame := watchFrame(t, "ADDED", encode(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	for n := 1; n < len(frame); n++ {
		_, err := watch(t, frame[:n])
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, n)
	}
}

// A connection error in the middle of a frame must not become ErrInvalidResponse.
func TestProtobufConnectionErrors(t *testing.T) {
	frame := watchFrame(t, "ADDED", encode(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	for _, broken := range []error{io.ErrUnexpectedEOF, errors.New("connection reset")} {
		body := io.MultiReader(bytes.NewReader(frame[:len(frame)-1]), iotest.ErrReader(broken))
		client, err := lw.NewClient(response{body}, lw.Pods(""), rawCodec{}, &lw.ClientOptions{Protobuf: true})
		require.NoError(t, err)
		var last error
		for _, last = range client.Watch(t.Context(), lw.ListOptions{}) {
		}
		require.Equal(t, broken, last)
	}
}

// TestProtobufLengthsAreLimited sends messages with length prefixes above MaxFrame.
func TestProtobufLengthsAreLimited(t *testing.T) {
	_, err := watch(t, []byte{0x10, 0, 0, 0})
	require.ErrorIs(t, err, lw.ErrTooLarge)
	const podList = "k8s\x00\x0a\x0d\x0a\x02v1\x12\x07PodList\x12" // the client accepts items only after the kind
	list := binary.AppendUvarint([]byte(podList), 1<<40)
	err = listError(t, binary.AppendUvarint(append(list, 0x12), 1<<30))
	require.ErrorIs(t, err, lw.ErrTooLarge)
	require.ErrorContains(t, err, "at most 1048576 bytes")
	require.ErrorContains(t, listError(t, append([]byte(podList+"\x02\x12"), 0xff, 0x01)), "malformed response")
}

// FuzzProtobufEvent checks that apimachinery decodes the same object from each event that the client accepts.
func FuzzProtobufEvent(f *testing.F) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Namespace: "b", UID: "c", ResourceVersion: "4", Labels: map[string]string{"x": "y"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}}
	f.Add(encode(f, pod))
	f.Add(encode(f, &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, ObjectMeta: pod.ObjectMeta}))
	f.Fuzz(func(t *testing.T, object []byte) {
		event, err := watch(t, watchFrame(t, "ADDED", object))
		if err != nil {
			require.ErrorContains(t, err, "malformed response")
			return
		}
		var unknown runtime.Unknown
		var want, got corev1.Pod
		// The client has already checked the prefix "k8s\x00", which is not a part of the message.
		if unknown.Unmarshal(object[4:]) != nil || want.Unmarshal(unknown.Raw) != nil {
			return // the client accepts the object because it decodes only the metadata
		}
		require.NoError(t, got.Unmarshal(event.Object.message))
		require.Equal(t, []string{want.Namespace, want.Name, string(want.UID), want.ResourceVersion},
			[]string{event.Object.namespace, event.Object.name, event.Object.uid, event.Object.resourceVersion})
		want.ManagedFields = nil
		require.Equal(t, want, got)
	})
}

func TestProtobufKeepsManagedFieldsOnRequest(t *testing.T) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}}
	want, err := pod.Marshal()
	require.NoError(t, err)
	for name, body := range map[string][]byte{
		"list":  encode(t, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{pod}}),
		"watch": watchFrame(t, "ADDED", encode(t, pod.DeepCopy())),
	} {
		t.Run(name, func(t *testing.T) {
			client, err := lw.NewClient(response{bytes.NewReader(body)}, lw.Pods(""), rawCodec{}, &lw.ClientOptions{Protobuf: true, KeepManagedFields: true})
			require.NoError(t, err)
			var messages [][]byte
			if name == "list" {
				for object, err := range client.List(t.Context(), lw.ListOptions{}).Objects {
					require.NoError(t, err)
					messages = append(messages, object.message)
				}
			} else {
				for event, err := range client.Watch(t.Context(), lw.ListOptions{}) {
					require.NoError(t, err)
					if event.Type == lw.Added {
						messages = append(messages, event.Object.message)
					}
				}
			}
			require.Equal(t, [][]byte{want}, messages)
		})
	}
}

func TestProtobufMetadataOnly(t *testing.T) {
	list := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		ListMeta: metav1.ListMeta{ResourceVersion: "3"},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "y"}}}},
	}
	var body bytes.Buffer
	require.NoError(t, protobufSerializer.Encode(list, &body))
	transport := &recordedRequest{response: response{&body}}
	client, err := lw.NewClient(transport, lw.Pods(""), rawCodec{}, &lw.ClientOptions{Protobuf: true, MetadataOnly: true})
	require.NoError(t, err)
	objects := 0
	for object, err := range client.List(t.Context(), lw.ListOptions{}).Objects {
		require.NoError(t, err)
		var got metav1.PartialObjectMetadata
		require.NoError(t, got.Unmarshal(object.message))
		require.Equal(t, list.Items[0], got)
		objects++
	}
	require.Equal(t, 1, objects)
	require.Contains(t, transport.accept, "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
}

// recordedRequest is an lw.Transport that records the Accept header.
type recordedRequest struct {
	response
	accept string
}

func (r *recordedRequest) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	r.accept = req.Accept
	return r.response.Open(ctx, req)
}
