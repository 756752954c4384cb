package decoders

import (
	"bytes"
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// tenFields lists the fields that a Pod table in a user interface shows.
var tenFields = []string{"metadata.creationTimestamp", "metadata.labels.app", "metadata.ownerReferences[*].name",
	"spec.nodeName", "spec.containers[*].image", "spec.priority", "status.phase", "status.podIP",
	"status.containerStatuses[*].ready", "status.containerStatuses[*].restartCount"}

func listwatch() []Decoder {
	fields := harness.MustGet(lw.Project(tenFields...))
	return []Decoder{
		newDecoder("listwatch, lw.RawCodec", asJSON, watched(lw.RawCodec{}, nil)),
		newDecoder("listwatch, ten fields", asJSON, watched(fields, nil)),
		newDecoder("listwatch, cache/compact", asJSON, watched(compact.NewCodec(lw.RawCodec{}), nil)),
		newDecoder("listwatch, cache/compact with ten fields", asJSON, watched(compact.NewCodec(fields), nil)),
		newDecoder("listwatch, codec.JSON with *corev1.Pod", asJSON, watched(codec.JSON[*corev1.Pod]{}, nil)),
		newDecoder("listwatch, codec.Protobuf with *corev1.Pod", asProtobuf, watched(codec.Protobuf[*corev1.Pod]{}, lw.Protobuf())),
		newDecoder(Floor, asJSON, floor),
	}
}

// watched returns a function that decodes events with an lw.Client and the given codec.
func watched[T lw.Keyed](codec lw.Codec[T], encoding *lw.Encoding) func(io.Reader, int, func(T)) {
	return func(events io.Reader, n int, keep func(T)) {
		client := harness.MustGet(lw.NewClient(transport{events}, lw.Pods(""), codec, &lw.ClientOptions{Encoding: encoding}))
		for event, err := range client.Watch(context.Background(), lw.WatchOptions{}) {
			harness.Must(err)
			if event.Type != lw.Modified {
				continue
			}
			keep(event.Object)
			if n--; n == 0 {
				return
			}
		}
	}
}

// transport is an lw.Transport that returns the same body for every request.
type transport struct{ body io.Reader }

// Open implements lw.Transport.
func (t transport) Open(context.Context, *lw.Request) (*lw.Response, error) {
	return &lw.Response{ReadCloser: io.NopCloser(t.body)}, nil
}

// floor copies the lines without decoding them.
func floor(events io.Reader, n int, keep func([]byte)) {
	lines(events, n, func(line []byte) { keep(append([]byte(nil), line...)) })
}

// lines calls do with each of the first n lines. Its buffer has the same size as the buffer of lw.Client.
func lines(from io.Reader, n int, do func(line []byte)) {
	buffer := make([]byte, 64<<10)
	start, end := 0, 0
	for n > 0 {
		if i := bytes.IndexByte(buffer[start:end], '\n'); i >= 0 {
			do(buffer[start : start+i])
			start += i + 1
			n--
			continue
		}
		end = copy(buffer, buffer[start:end])
		start = 0
		read, err := from.Read(buffer[end:])
		if err != nil || read == 0 {
			panic("a line is incomplete or too long")
		}
		end += read
	}
}

func clientGo() []Decoder {
	untyped := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer
	typed := scheme.Codecs.WithoutConversion()
	return []Decoder{
		newDecoder("client-go, unstructured", asJSON, negotiated(untyped, runtime.ContentTypeJSON)),
		newDecoder("client-go, *corev1.Pod from JSON", asJSON, negotiated(typed, runtime.ContentTypeJSON)),
		newDecoder("client-go, *corev1.Pod from protobuf", asProtobuf, negotiated(typed, runtime.ContentTypeProtobuf)),
	}
}

// negotiated returns a function that decodes events with client-go's watch decoder and the given serializer. It omits
// the goroutine and the channel of a client-go watch.
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
