//go:build !js

package lw

import (
	"errors"
	"io"

	"github.com/seed-6d2a410a/listwatch/lw/internal/protoscan"
)

// Protobuf makes a client request Kubernetes' protobuf encoding. A [Codec] selects it by embedding Protobuf. [Scanned.Raw]
// is then the object's protobuf message, for example an encoded Pod, without its kind and apiVersion.
//
// API servers encode built-in types as protobuf, and custom resources as JSON only: they answer 406. Browsers and WebSocket
// transports support JSON only. lw/codec.Protobuf decodes into Kubernetes' Go types.
type Protobuf struct{}

const protobufType = "application/vnd.kubernetes.protobuf"

func (Protobuf) mediaType() string { return protobufType }

func (Protobuf) newDecoder(body io.Reader, opts *ClientOptions, keepManagedFields bool) decoder {
	return &protoDecoder{r: protoscan.New(body, frameLimit(opts.MaxFrame)), source: body, keepManagedFields: keepManagedFields}
}

// protoDecoder reads lists and watch events in Kubernetes' protobuf encoding.
type protoDecoder struct {
	r                 *protoscan.Reader
	source            io.Reader
	keepManagedFields bool
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
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return &MalformedError{Offset: d.r.Offset(), Expected: "more bytes", Found: "the end of the stream", Err: err}
		}
		if err == protoscan.ErrVarint {
			return &MalformedError{Offset: d.r.Offset(), Expected: "a varint", Found: "one of more than 64 bits"}
		}
		return err
	}
}

// malformed records that the response does not follow the protocol. It returns false.
func (d *protoDecoder) malformed(expected, found string) bool {
	return d.r.Fail(&MalformedError{Offset: d.r.Offset(), Expected: expected, Found: found})
}

// notList records that the response is not a list. It returns false.
func (d *protoDecoder) notList(expected, found string) bool {
	return d.r.Fail(&MalformedError{Offset: d.r.Offset(), Expected: expected, Found: found, Err: ErrNotList})
}

func (d *protoDecoder) notThisList() {
	d.notList("a list of this resource", "another kind or apiVersion")
}

// event reads the next event of a watch: its length in four bytes, and a WatchEvent.
func (d *protoDecoder) event(o *Scanned) (EventType, bool) {
	if !d.begin() {
		return 0, false
	}
	size := d.r.Uint32()
	if first := byte(size >> 24); first == '<' || first == '{' {
		return 0, d.malformed("a protobuf watch event", "'"+string(rune(first))+"' (HTML or JSON? a proxy may have answered in place of the API server)")
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
		return 0, d.malformed("an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", shorten([]byte(Redact(d.source, name))))
	}
	kind, body, ok := envelope(object)
	if !ok {
		return 0, d.malformed("a protobuf object in the event", "something else")
	}
	if eventType == errorEvent {
		*o = Scanned{body: body}
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

// status returns the Status of an ERROR event.
func (d *protoDecoder) status(o *Scanned) (Status, error) { return protoStatus(o.body, d.source) }

// envelope reads an object with the magic bytes: a runtime.Unknown of its kind and its message.
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

// lastField returns the last value of a field of a message, or nil.
func lastField(data []byte, number int) (value []byte) {
	m := protoscan.Of(data)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		if f.Number == number && f.Type == protoscan.Bytes {
			value = m.Bytes(f)
		}
	}
	return value
}
