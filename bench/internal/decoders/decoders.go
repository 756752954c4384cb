// Package decoders provides the decoders of watch events that bench/decode and bench/retained compare.
package decoders

import (
	"bytes"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// Floor is the name of the decoder that only copies each line. No decoder can be cheaper.
const Floor = "baseline: find and copy each line"

// Decoder decodes the events of a watch into objects of one library.
type Decoder struct {
	Name   string
	format format
	// Run decodes n events and returns a slice of the last `held` decoded objects.
	Run func(events io.Reader, n, held int) (objects any)
}

// All returns all decoders, starting with the decoder of lw.Client.
func All() []Decoder {
	return slices.Concat(listwatch(), clientGo())
}

// Stream returns an endless reader that repeats the events in the format of the decoder.
func (d Decoder) Stream(events *Events) io.Reader { return sample.Loop(events.encoded(d.format)) }

// EventSize returns the average size in bytes of an event in the format of the decoder.
func (d Decoder) EventSize(events *Events) int {
	return len(events.encoded(d.format)) / len(events.pods)
}

// newDecoder returns a Decoder. decode must read n events and call keep with each object.
func newDecoder[T any](name string, format format, decode func(events io.Reader, n int, keep func(T))) Decoder {
	return Decoder{name, format, func(events io.Reader, n, held int) any {
		objects, i := make([]T, held), 0
		decode(events, n, func(object T) {
			objects[i%held] = object
			i++
		})
		if i != n {
			panic("a decoder skipped events")
		}
		return objects
	}}
}

type format int

const (
	asJSON format = iota
	asProtobuf
)

// Events contains one MODIFIED event for each Pod.
type Events struct {
	pods []sample.Pod
	data [2][]byte // encoded events, indexed by format; nil before the first use
}

// NewEvents returns one MODIFIED event for each Pod. The events are encoded on first use.
func NewEvents(pods []sample.Pod) *Events { return &Events{pods: pods} }

func (e *Events) encoded(format format) []byte {
	if e.data[format] == nil {
		if format == asProtobuf {
			e.data[format] = e.protobuf()
		} else {
			for _, pod := range e.pods {
				e.data[format] = append(e.data[format], pod.Event("MODIFIED")...)
			}
		}
	}
	return e.data[format]
}

func (e *Events) protobuf() []byte {
	var data bytes.Buffer
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	stream := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(&data), info.StreamSerializer)
	for _, pod := range e.pods {
		typed := harness.MustGet(runtime.Decode(scheme.Codecs.UniversalDeserializer(), []byte(pod.JSON())))
		raw := runtime.RawExtension{Raw: harness.MustGet(runtime.Encode(encoder, typed))}
		harness.Must(stream.Encode(&metav1.WatchEvent{Type: string(watch.Modified), Object: raw}))
	}
	return data.Bytes()
}
