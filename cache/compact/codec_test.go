package compact

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// answers is a fake transport. Each request removes the first element, which is its response body.
type answers []io.Reader

func (a *answers) Open(ctx context.Context, _ *lw.Request) (*lw.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	body := (*a)[0]
	*a = (*a)[1:]
	return &lw.Response{ReadCloser: io.NopCloser(body)}, nil
}

// watched decodes a watch response and returns the objects in its events.
func watched[T lw.Keyed](t testing.TB, codec lw.Codec[T], events string) (objects []T, err error) {
	client, err := lw.NewClient(&answers{strings.NewReader(events)}, lw.Pods(""), codec, nil)
	require.NoError(t, err)
	for event, err := range client.Watch(t.Context(), lw.ListOptions{}) {
		if err != nil {
			return objects, err
		}
		if event.Type != lw.WatchStarted {
			objects = append(objects, event.Object)
		}
	}
	return objects, nil
}

func decode[T lw.Keyed](t testing.TB, codec lw.Codec[T], pods []sample.Pod) []T {
	var events strings.Builder
	for _, pod := range pods {
		events.WriteString(pod.Event("ADDED"))
	}
	objects, err := watched(t, codec, events.String())
	require.NoError(t, err)
	require.Len(t, objects, len(pods))
	return objects
}

// requireSame requires that object decompresses to text and has the same metadata.
func requireSame(t testing.TB, text *lw.Object, object *Object) {
	t.Helper()
	require.Equal(t, text.Raw(), object.Object().Raw())
	require.Equal(t, text, object.Object(), "the decompressed object must equal the original object")
	require.Equal(t, lw.KeyOf(text), lw.KeyOf(object))
	require.Equal(t, text.GetUID(), object.GetUID())
	require.Equal(t, text.GetResourceVersion(), object.GetResourceVersion())
}

const neverHot = -1

// The codec trains two dictionaries while it decodes these objects. All objects must remain readable.
func TestRoundTrip(t *testing.T) {
	projection, err := lw.Project("metadata.labels", "spec.containers[*].image", "status")
	require.NoError(t, err)
	for name, inner := range map[string]lw.Codec[*lw.Object]{
		"whole": lw.RawCodec{}, "projected": projection,
	} {
		t.Run(name, func(t *testing.T) {
			pods := append(sample.Pods(1, 300), sample.Templated(1, 300, 100)...)
			texts, objects := decode(t, inner, pods), decode(t, newCodec(inner, neverHot), pods)
			dictionaries := map[*dictionary]int{}
			for i, object := range objects {
				requireSame(t, texts[i], object)
				dictionaries[object.dictionary]++
			}
			require.Len(t, dictionaries, 3, "the codec must use the plain dictionary, a second one after 16 objects, and a third one after 256 more objects")
			require.Less(t, len(objects[599].held), len(texts[599].Raw())/2)
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	codec := newCodec(lw.RawCodec{}, 50_000)
	pods := sample.Templated(1, 200, 50)
	texts := decode(t, lw.RawCodec{}, pods)
	var all sync.WaitGroup
	decoded := make(chan []*Object, 8)
	for range cap(decoded) {
		all.Go(func() { decoded <- decode(t, codec, pods) })
		all.Go(func() {
			for i, object := range <-decoded {
				if object.Object().Raw() != texts[i].Raw() {
					t.Error("the JSON differs from the original")
				}
			}
		})
	}
	all.Wait()
}

// An object that does not decompress correctly must be stored uncompressed. To cause that, this test gives the
// compressor and the decompressor different dictionaries.
func TestCompressorFault(t *testing.T) {
	codec := newCodec(lw.RawCodec{}, neverHot)
	content := []byte(sample.Pods(1, 1)[0].JSON())
	faulty := newCompressor(content, codec.hot)
	faulty.dictionary = newCompressor(bytes.ToUpper(content), codec.hot).dictionary
	codec.trainer.current.Store(faulty)
	pods := sample.Pods(2, 10)
	for i, object := range decode(t, codec, pods) {
		require.Same(t, codec.plain, object.dictionary)
		requireSame(t, decode(t, lw.RawCodec{}, pods)[i], object)
	}
}

func TestIncompressibleTextStaysUncompressed(t *testing.T) {
	codec := newCodec(lw.RawCodec{}, neverHot)
	decode(t, codec, sample.Pods(1, samples))
	require.NotNil(t, codec.trainer.current.Load())
	objects, err := watched(t, codec, `{"type":"ADDED","object":{"metadata":{"name":"xq"}}}`)
	require.NoError(t, err)
	require.Same(t, codec.plain, objects[0].dictionary)
	require.Equal(t, `{"metadata":{"name":"xq"}}`, objects[0].Object().Raw())
}

// Back-references must not exceed the compression window. The test covers sizes close to the dictionary size, the
// window size, their sum and the block size.
func TestLargeObjects(t *testing.T) {
	codec := newCodec(lw.RawCodec{}, neverHot)
	var items strings.Builder
	for i, pod := range decode(t, codec, sample.Templated(1, 300, 300)) {
		if items.WriteString(pod.Object().Raw() + ","); i > 40 && i%50 != 0 {
			continue
		}
		large := `{"metadata":{"name":"large"},"items":[` + items.String() + `0]}`
		objects, err := watched(t, codec, `{"type":"ADDED","object":`+large+"}")
		require.NoError(t, err)
		require.True(t, large == objects[0].Object().Raw(), i)
	}
}

type failing struct {
	lw.RawCodec
	err error
}

func (f failing) Decode(*lw.Scanned) (*lw.Object, error) { return nil, f.err }

func TestDecodeReturnsInnerErrors(t *testing.T) {
	cause := errors.New("no")
	_, err := watched(t, newCodec(failing{err: cause}, hotBytes), sample.Pods(1, 1)[0].Event("ADDED"))
	require.ErrorIs(t, err, cause)
	fault, ok := errors.AsType[*lw.DecodeError](err)
	require.True(t, ok)
	require.Equal(t, sample.Pods(1, 1)[0].Name, fault.Key.Name)
}

func TestEqual(t *testing.T) {
	pods := sample.Templated(1, 600, 10)
	changed := slices.Clone(pods)
	for i := range changed {
		changed[i].Phase = "Failed"
	}
	codec := newCodec(lw.RawCodec{}, hotBytes)
	before, again, other := decode(t, codec, pods), decode(t, codec, pods), decode(t, codec, changed)
	foreign := decode(t, newCodec(lw.RawCodec{}, hotBytes), pods)
	for i := range before {
		require.True(t, before[i].equal(again[i]), "equality must not depend on the dictionary")
		require.True(t, before[i].equal(foreign[i]), "equality must not depend on the codec")
		require.False(t, before[i].equal(other[i]))
	}
}

// For every input, the codec must return the same object as RawCodec.
func FuzzRoundTrip(f *testing.F) {
	codec := newCodec(lw.RawCodec{}, neverHot)
	decode(f, codec, sample.Templated(1, 300, 100))
	for _, pod := range sample.Templated(2, 2, 2) {
		f.Add(pod.JSON())
		f.Add(pod.Item())
	}
	f.Add(`{"metadata":{"name":"a\u0062","uid":"\ud83d\ude00","name":"c"}}`)
	f.Add(` { "metadata" : { "name" : "` + strings.Repeat("long", 1<<10) + `" } } `)
	f.Fuzz(func(t *testing.T, object string) {
		event := `{"type":"ADDED","object":` + object + "}"
		texts, err := watched(t, lw.RawCodec{}, event)
		objects, compactErr := watched(t, codec, event)
		require.Equal(t, err, compactErr)
		require.Len(t, objects, len(texts))
		for i := range texts {
			requireSame(t, texts[i], objects[i])
		}
	})
}

// The codec would store protobuf as if it were JSON, and reading a field would then find nothing.
func TestRejectsProtobuf(t *testing.T) {
	// k8s\0, then a runtime.Unknown with the kind PodList and a list of one Pod with the name "a"
	list := "k8s\x00" + "\x0a\x0d\x0a\x02v1\x12\x07PodList" + "\x12\x09\x0a\x00\x12\x05\x0a\x03\x0a\x01a"
	client, err := lw.NewClient(&answers{strings.NewReader(list)}, lw.Pods(""), NewCodec(lw.RawCodec{}), &lw.ClientOptions{Protobuf: true})
	require.NoError(t, err)
	var errs []error
	for _, err := range client.List(t.Context(), lw.ListOptions{}).Objects {
		errs = append(errs, err)
	}
	require.Len(t, errs, 1)
	require.ErrorContains(t, errs[0], "object a at resourceVersion : compact.NewCodec received protobuf: clear lw.ClientOptions.Protobuf")
}
