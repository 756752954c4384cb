//go:build !js

package lw

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw/internal/protoscan"
)

// Protobuf makes a client request objects in Kubernetes' protobuf encoding. To select it, embed Protobuf in a [Codec].
// In such a codec, [Scanned.Raw] returns the protobuf message of the object, for example of a Pod, without kind and
// apiVersion.
//
// API servers encode only built-in types as protobuf. They respond to requests for custom resources with 406. Browsers
// and WebSocket transports support only JSON. lw/codec.Protobuf decodes the messages into Kubernetes' Go types.
type Protobuf struct{}

const protobufType = "application/vnd.kubernetes.protobuf"

func (Protobuf) mediaType() string { return protobufType }

func (Protobuf) newDecoder(body io.Reader, opts *ClientOptions, progress func()) decoder {
	r := protoscan.New(body, frameLimit(opts.MaxFrame))
	r.Progress = progress
	return &protoDecoder{r: r, source: body}
}

type protoDecoder struct {
	r      *protoscan.Reader
	source io.Reader
}

func (d *protoDecoder) begin() bool    { return d.r.Wait() }
func (d *protoDecoder) fail(err error) { d.r.Fail(err) }
func (d *protoDecoder) failed() bool   { return d.r.Err() != nil }
func (d *protoDecoder) release()       { d.r.Release() }

func (d *protoDecoder) failure() error {
	switch err := d.r.Err().(type) {
	case *protoscan.LimitError:
		return &FrameTooLargeError{Offset: err.Offset, Limit: err.Limit}
	default:
		if err == protoscan.ErrTruncated {
			return &MalformedError{Offset: d.r.Offset(), expected: "more bytes", found: "the end of the stream", err: io.ErrUnexpectedEOF}
		}
		if err == protoscan.ErrVarint {
			return &MalformedError{Offset: d.r.Offset(), expected: "a 64-bit varint", found: "a longer varint"}
		}
		return err
	}
}

// malformed records a [MalformedError] at the current offset. It returns false.
func (d *protoDecoder) malformed(expected, found string) bool {
	return d.r.Fail(&MalformedError{Offset: d.r.Offset(), expected: expected, found: found})
}

// notList records a [MalformedError] for a response that is not a list. It returns false.
func (d *protoDecoder) notList(expected, found string) bool {
	return d.r.Fail(&MalformedError{Offset: d.r.Offset(), expected: expected, found: found, err: ErrNotList})
}

func (d *protoDecoder) wrongList() {
	d.notList("a list of this resource", "another kind or apiVersion")
}

// event reads the next event of a watch: a four-byte length and a WatchEvent.
func (d *protoDecoder) event(o *Scanned) (EventType, bool) {
	if !d.begin() {
		return 0, false
	}
	size := d.r.Uint32()
	if first := byte(size >> 24); first == '<' || first == '{' {
		return 0, d.malformed("a protobuf watch event", "'"+string(rune(first))+"' (HTML or JSON? the response may come from a proxy)")
	}
	data := d.r.Frame(uint64(size))
	if d.r.Err() != nil {
		return 0, false
	}
	var name string
	var object []byte
	event := protoscan.Of(data)
	for f, ok := event.Next(); ok; f, ok = event.Next() {
		switch {
		case f.Number == 1 && f.Type == protoscan.Bytes:
			name = string(event.Bytes(f))
		case f.Number == 2 && f.Type == protoscan.Bytes:
			object = lastField(event.Bytes(f), 1)
		}
	}
	if !event.Valid() {
		return 0, d.malformed("a WatchEvent", "malformed protobuf")
	}
	eventType, known := wireType([]byte(name))
	if !known {
		return 0, d.malformed("an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", shorten([]byte(redact.Body(d.source, name))))
	}
	kind, body, ok := envelope(object)
	if !ok {
		return 0, d.malformed("a protobuf object in the event", "another encoding")
	}
	if eventType == errorEvent {
		o.body = body
		if kind != "Status" {
			return 0, d.malformed("a Status in the ERROR event", "another object")
		}
		return eventType, true
	}
	if !d.object(o, body) {
		return 0, false
	}
	if eventType != Bookmark && o.name.Start == o.name.End {
		return 0, d.malformed("an object with metadata.name", "none")
	}
	return eventType, true
}

func (d *protoDecoder) status(o *Scanned) error {
	e := &StatusError{}
	if !e.unmarshal(o.body, d.source) {
		return &MalformedError{Offset: d.r.Offset(), expected: "a Status", found: "malformed protobuf"}
	}
	return e
}

// envelope parses an object that starts with the bytes "k8s\x00". It returns the kind and the encoded object from the
// runtime.Unknown message after these bytes.
func envelope(data []byte) (kind string, message []byte, ok bool) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return "", nil, false
	}
	m := protoscan.Of(data[len(magic):])
	for f, more := m.Next(); more; f, more = m.Next() {
		switch {
		case f.Type != protoscan.Bytes:
		case f.Number == 1:
			kind = string(lastField(m.Bytes(f), 2))
		case f.Number == 2:
			message = m.Bytes(f)
		}
	}
	return kind, message, m.Valid()
}

// lastField returns the value of a bytes field in a message, or nil if the field is missing. If the field occurs
// several times, the last value counts.
func lastField(data []byte, number int) (value []byte) {
	m := protoscan.Of(data)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		if f.Number == number && f.Type == protoscan.Bytes {
			value = m.Bytes(f)
		}
	}
	return value
}
