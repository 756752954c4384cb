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

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

func jsonIterators() []Decoder {
	return []Decoder{
		of("json-iterator, map[string]any", asJSON, jsonIterator[map[string]any]),
		of("json-iterator, *corev1.Pod", asJSON, jsonIterator[*corev1.Pod]),
	}
}

// jsonIterator decodes each line, of which it keeps the object.
func jsonIterator[T any](events io.Reader, n int, keep func(T)) {
	api := jsoniter.ConfigCompatibleWithStandardLibrary
	lines(events, n, func(line []byte) {
		var event struct {
			Type   string `json:"type"`
			Object T      `json:"object"`
		}
		measure.Must(api.Unmarshal(line, &event))
		keep(event.Object)
	})
}

func clientGos() []Decoder {
	untyped := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer
	typed := scheme.Codecs.WithoutConversion()
	return []Decoder{
		of(Unstructured, asJSON, clientGo(untyped, runtime.ContentTypeJSON)),
		of(Typed, asJSON, clientGo(typed, runtime.ContentTypeJSON)),
		of(Protobuf, asProtobuf, clientGo(typed, runtime.ContentTypeProtobuf)),
	}
}

// clientGo decodes with what a client that has the serializer makes for a watch, but for its goroutine and its channel.
func clientGo(serializer runtime.NegotiatedSerializer, mediaType string) func(io.Reader, int, func(runtime.Object)) {
	return func(events io.Reader, n int, keep func(runtime.Object)) {
		negotiator := runtime.NewClientNegotiator(serializer, corev1.SchemeGroupVersion)
		object, event, framer, err := negotiator.StreamDecoder(mediaType, nil)
		measure.Must(err)
		decoder := restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(closer{events}), event), object)
		for range n {
			_, object, err := decoder.Decode()
			measure.Must(err)
			keep(object)
		}
	}
}
