package decoders

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

// form is that of the events on the wire.
type form int

const (
	asJSON form = iota
	asProtobuf
)

// Events are those of some Pods, each modified once, as a server sends them in either form.
type Events struct {
	pods []sample.Pod
	text [2][]byte
}

// NewEvents returns the events of the Pods.
func NewEvents(pods []sample.Pod) *Events { return &Events{pods: pods} }

// in serializes them when somebody first reads them.
func (e *Events) in(form form) []byte {
	if e.text[form] == nil {
		if form == asProtobuf {
			e.text[form] = e.protobuf()
		} else {
			for _, pod := range e.pods {
				e.text[form] = append(e.text[form], pod.Event("MODIFIED")...)
			}
		}
	}
	return e.text[form]
}

func (e *Events) protobuf() []byte {
	var text bytes.Buffer
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	to := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(&text), info.StreamSerializer)
	for _, pod := range e.pods {
		typed := must(runtime.Decode(scheme.Codecs.UniversalDeserializer(), []byte(pod.JSON())))
		raw := runtime.RawExtension{Raw: must(runtime.Encode(encoder, typed))}
		measure.Must(to.Encode(&metav1.WatchEvent{Type: string(watch.Modified), Object: raw}))
	}
	return text.Bytes()
}

// loop gives the same text again and again, as fast as it is read.
type loop struct {
	text []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	if l.at += n; l.at == len(l.text) {
		l.at = 0
	}
	return n, nil
}
