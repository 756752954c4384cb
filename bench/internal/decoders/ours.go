package decoders

import (
	"bytes"
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// tenFields are what a table of Pods shows.
var tenFields = []string{"metadata.creationTimestamp", "metadata.labels.app", "metadata.ownerReferences[*].name",
	"spec.nodeName", "spec.containers[*].image", "spec.priority", "status.phase", "status.podIP",
	"status.containerStatuses[*].ready", "status.containerStatuses[*].restartCount"}

func ours() []Decoder {
	fields := must(lw.Project(tenFields...))
	return []Decoder{
		of(Listwatch, asJSON, watched(lw.RawCodec{})),
		of(Projected, asJSON, watched(fields)),
		of(Compact, asJSON, watched(compact.NewCodec(lw.RawCodec{}, nil))),
		of("listwatch, cache/compact of ten fields", asJSON, watched(compact.NewCodec(fields, nil))),
		of("listwatch, codec.JSON of *corev1.Pod", asJSON, watched(codec.JSON[*corev1.Pod]{})),
		of(Floor, asJSON, floor),
	}
}

// watched is the client's whole way: framed, validated, metadata read, decoded.
func watched[T lw.Keyed](codec lw.Codec[T]) func(io.Reader, int, func(T)) {
	return func(events io.Reader, n int, keep func(T)) {
		client := must(lw.NewClient(given{events}, lw.Pods(""), codec, nil))
		for event, err := range client.Watch(context.Background(), lw.WatchOptions{}) {
			measure.Must(err)
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

// given is a transport that has one body.
type given struct{ body io.Reader }

func (g given) Open(context.Context, *lw.Request) (io.ReadCloser, error) { return closer{g.body}, nil }

// floor is the least that any client must do.
func floor(events io.Reader, n int, keep func([]byte)) {
	lines(events, n, func(line []byte) { keep(append([]byte(nil), line...)) })
}

// lines gives each line, in a buffer as large as listwatch's.
func lines(from io.Reader, n int, line func([]byte)) {
	buffer := make([]byte, 64<<10)
	start, end := 0, 0
	for n > 0 {
		if i := bytes.IndexByte(buffer[start:end], '\n'); i >= 0 {
			line(buffer[start : start+i])
			start += i + 1
			n--
			continue
		}
		end = copy(buffer, buffer[start:end])
		start = 0
		read, err := from.Read(buffer[end:])
		if err != nil || read == 0 {
			panic("a line does not end")
		}
		end += read
	}
}
