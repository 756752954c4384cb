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

// Floor is the name of the decoder that only copies each line. Its cost is the minimum for all decoders.
const Floor = "find the newline, copy the line"

// Decoder decodes the events of a watch.
type Decoder struct {
	Name   string
	format format
	// Run decodes n events and returns a slice that contains the last decoded objects. The argument held is the length
	// of the slice.
	Run func(events io.Reader, n, held int) (objects any)
}

// All returns all decoders, starting with the decoder of lw.Client.
func All() []Decoder {
	return slices.Concat(listwatch(), clientGo())
}

// Stream returns an endless stream that repeats the events in the decoder's format.
func (d Decoder) Stream(events *Events) io.Reader { return sample.Loop(events.encoded(d.format)) }

// EventSize returns the average size of an event in bytes in the decoder's format.
func (d Decoder) EventSize(events *Events) int {
	return len(events.encoded(d.format)) / len(events.pods)
}

// newDecoder returns a decoder. The function decode must read n events and call keep with each decoded object.
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

// format is the encoding of events.
type format int

const (
	asJSON format = iota
	asProtobuf
)

// Events contains one MODIFIED event for each Pod.
type Events struct {
	pods []sample.Pod
	data [2][]byte // encoded events by format, created on first use
}

// NewEvents returns the events of the Pods.
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
