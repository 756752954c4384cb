package main

import (
	"bufio"
	"bytes"
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// watched returns a decode function for newDecoder that uses an lw.Client with the given codec.
func watched[T lw.Keyed](codec lw.Codec[T]) func(string, io.Reader, int, func(T)) {
	return func(format string, events io.Reader, n int, keep func(T)) {
		opts := &lw.ClientOptions{Protobuf: format == asProtobuf}
		client := harness.MustGet(lw.NewClient(transport{events}, lw.Pods(""), codec, opts))
		for event, err := range client.Watch(context.Background(), lw.ListOptions{}) {
			harness.Must(err)
			if event.Type != lw.Modified { // the client adds events without an object, such as lw.WatchStarted
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

// copyLines copies the lines of JSON events without decoding them. Its buffer is as large as lw.Client's, so both read
// equally large chunks.
func copyLines(_ string, events io.Reader, n int, keep func([]byte)) {
	lines := bufio.NewScanner(events)
	lines.Buffer(make([]byte, 64<<10), 64<<10)
	for range n {
		if !lines.Scan() {
			panic("a line is incomplete or too long")
		}
		keep(bytes.Clone(lines.Bytes()))
	}
}

// negotiated returns a decode function for newDecoder that uses client-go's watch decoder with the given serializer. It
// leaves out the goroutine and the channel of a client-go watch, because the benchmark measures only decoding.
func negotiated(serializer runtime.NegotiatedSerializer) func(string, io.Reader, int, func(runtime.Object)) {
	return func(mediaType string, events io.Reader, n int, keep func(runtime.Object)) {
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
