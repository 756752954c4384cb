package decoders

import (
	"io"

	jsoniter "github.com/json-iterator/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

func jsonIterator() []Decoder {
	return []Decoder{
		newDecoder("json-iterator, map[string]any", asJSON, iterated[map[string]any]),
		newDecoder("json-iterator, *corev1.Pod", asJSON, iterated[*corev1.Pod]),
	}
}

// iterated decodes each line with json-iterator.
func iterated[T any](events io.Reader, n int, keep func(T)) {
	api := jsoniter.ConfigCompatibleWithStandardLibrary
	lines(events, n, func(line []byte) {
		var event struct {
			Type   string `json:"type"`
			Object T      `json:"object"`
		}
		harness.Must(api.Unmarshal(line, &event))
		keep(event.Object)
	})
}

func clientGo() []Decoder {
	untyped := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer
	typed := scheme.Codecs.WithoutConversion()
	return []Decoder{
		newDecoder(Unstructured, asJSON, negotiated(untyped, runtime.ContentTypeJSON)),
		newDecoder(Typed, asJSON, negotiated(typed, runtime.ContentTypeJSON)),
		newDecoder(Protobuf, asProtobuf, negotiated(typed, runtime.ContentTypeProtobuf)),
	}
}

// negotiated decodes with the decoder that a client-go client with the serializer uses for a watch. It leaves out the
// goroutine and the channel of such a client.
func negotiated(serializer runtime.NegotiatedSerializer, mediaType string) func(io.Reader, int, func(runtime.Object)) {
	return func(events io.Reader, n int, keep func(runtime.Object)) {
		negotiator := runtime.NewClientNegotiator(serializer, corev1.SchemeGroupVersion)
		object, event, framer, err := negotiator.StreamDecoder(mediaType, nil)
		harness.Must(err)
		frames := framer.NewFrameReader(io.NopCloser(events))
		decoder := restwatch.NewDecoder(streaming.NewDecoder(frames, event), object)
		for range n {
			_, object, err := decoder.Decode()
			harness.Must(err)
			keep(object)
		}
	}
}
