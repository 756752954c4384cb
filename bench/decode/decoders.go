package main

import (
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// tenFields lists the fields that a user interface typically shows in a table of Pods.
var tenFields = []string{"metadata.creationTimestamp", "metadata.labels.app", "metadata.ownerReferences[*].name",
	"spec.nodeName", "spec.containers[*].image", "spec.priority", "status.phase", "status.podIP",
	"status.containerStatuses[*].ready", "status.containerStatuses[*].restartCount"}

const (
	asJSON     = runtime.ContentTypeJSON
	asProtobuf = runtime.ContentTypeProtobuf
)

// Names of decoders. The baseline only copies each line, which is the least that any decoder must do.
const (
	baseline = "baseline: find and copy each line"
	rawCodec = "listwatch, lw.RawCodec"
)

// decoders contains all decoders in the order in which they are measured.
var decoders = []decoder{
	newDecoder(rawCodec, asJSON, watched(lw.RawCodec{})),
	newDecoder(baseline, asJSON, copyLines),
	newDecoder("listwatch, ten fields", asJSON, watched(harness.MustGet(lw.Project(tenFields...)))),
	newDecoder("listwatch, cache/compact", asJSON, watched(compact.NewCodec(lw.RawCodec{}))),
	newDecoder("listwatch, typed JSON", asJSON, watched(codec.JSON[*corev1.Pod](nil))),
	newDecoder("listwatch, typed protobuf", asProtobuf, watched(codec.Protobuf[*corev1.Pod]())),
	newDecoder("client-go, unstructured", asJSON, negotiated(dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer)),
	newDecoder("client-go, typed JSON", asJSON, negotiated(scheme.Codecs.WithoutConversion())),
	newDecoder("client-go, typed protobuf", asProtobuf, negotiated(scheme.Codecs.WithoutConversion())),
}

// decoder decodes watch events into one library's objects. run decodes n events and returns a slice of the last decoded
// objects. The parameter "held" is the length of this slice.
type decoder struct {
	name   string
	format string // media type
	run    func(events io.Reader, n, held int) (objects any)
}

// newDecoder returns a decoder. decode must read n events and call keep with each object. keep retains the object, so
// decode must not reuse its memory.
func newDecoder[T any](name, format string, decode func(format string, events io.Reader, n int, keep func(T))) decoder {
	return decoder{name, format, func(events io.Reader, n, held int) any {
		objects, i := make([]T, held), 0
		decode(format, events, n, func(object T) {
			objects[i%held] = object
			i++
		})
		if i != n {
			panic("a decoder skipped events")
		}
		return objects
	}}
}

// encode returns one MODIFIED event for each Pod, by format.
func encode(pods []sample.Pod) map[string][]byte {
	events := map[string][]byte{}
	for _, pod := range pods {
		typed := harness.MustGet(runtime.Decode(scheme.Codecs.UniversalDeserializer(), []byte(pod.JSON())))
		events[asProtobuf] = append(events[asProtobuf], serve.ProtobufEvent(typed)...)
		events[asJSON] = append(events[asJSON], pod.Event("MODIFIED")...)
	}
	return events
}
