package decoders

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// format is the encoding of events.
type format int

const (
	asJSON format = iota
	asProtobuf
)

// Events are MODIFIED events, one for each Pod.
type Events struct {
	pods []sample.Pod
	data [2][]byte // by format, encoded at the first use
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
