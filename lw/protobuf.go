//go:build !js

package lw

import (
	"errors"
	"io"
	"strconv"
	"strings"

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
	return &protoDecoder{Reader: protoscan.New(body, frameLimit(opts.MaxFrame)), source: body, keepManagedFields: keepManagedFields}
}

// protoDecoder reads lists and watch events in Kubernetes' protobuf encoding.
type protoDecoder struct {
	*protoscan.Reader
	source            io.Reader
	keepManagedFields bool
}

// magic begins every object outside of a list. A runtime.Unknown follows.
const magic = "k8s\x00"

func (d *protoDecoder) begin() bool { return d.Wait() }

func (d *protoDecoder) failure() error {
	switch err := d.Err().(type) {
	case *protoscan.LimitError:
		return &FrameTooLargeError{Offset: err.Offset, Limit: err.Limit}
	default:
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return &MalformedError{Offset: d.Offset(), Expected: "more bytes", Found: "the end of the stream", Err: err}
		}
		if err == protoscan.ErrVarint {
			return &MalformedError{Offset: d.Offset(), Expected: "a varint", Found: "one of more than 64 bits"}
		}
		return err
	}
}

// malformed records that the response does not follow the protocol. It returns false.
func (d *protoDecoder) malformed(expected, found string) bool {
	return d.Fail(&MalformedError{Offset: d.Offset(), Expected: expected, Found: found})
}

// notList records that the response is not a list. It returns false.
func (d *protoDecoder) notList(expected, found string) bool {
	return d.Fail(&MalformedError{Offset: d.Offset(), Expected: expected, Found: found, Err: ErrNotList})
}

func (d *protoDecoder) notThisList() bool {
	return d.notList("a list of this resource", "another kind or apiVersion")
}

// event reads the next event of a watch: its length in four bytes, and a WatchEvent.
func (d *protoDecoder) event(o *Scanned) (EventType, bool) {
	if !d.begin() {
		return 0, false
	}
	size := d.Uint32()
	if first := byte(size >> 24); first == '<' || first == '{' {
		return 0, d.malformed("a protobuf watch event", "'"+string(rune(first))+"' (HTML or JSON? a proxy may have answered in place of the API server)")
	}
	data := d.Frame(uint64(size))
	if d.Err() != nil {
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

// list reads a list to the end of the stream: the magic bytes and a runtime.Unknown, whose field raw is the list.
func (d *protoDecoder) list(meta *ListMeta, o *Scanned, item func() bool) {
	for i := range len(magic) {
		if b := d.Byte(); d.Err() == nil && b != magic[i] {
			d.notList("a protobuf list", "byte "+strconv.Quote(string(rune(b))))
		}
	}
	found := false
	for d.Err() == nil && !(found && d.AtEnd()) {
		tag := d.Uvarint()
		switch {
		case d.Err() != nil:
			return
		case tag == 1<<3|protoscan.Bytes:
			d.typeMeta(meta, d.Frame(d.Uvarint()))
		case tag == 2<<3|protoscan.Bytes && !found:
			found = true
			if !d.items(meta, o, item) {
				return
			}
		case tag&7 == protoscan.Bytes:
			d.Discard(d.Uvarint())
		default:
			d.malformed("a runtime.Unknown", "another message")
		}
	}
}

func (d *protoDecoder) typeMeta(meta *ListMeta, data []byte) {
	m := protoscan.Of(data)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		switch {
		case f.Type != protoscan.Bytes:
		case f.Number == 1:
			meta.APIVersion = string(m.Bytes(f))
		case f.Number == 2:
			meta.Kind = string(m.Bytes(f))
		}
	}
	if !m.Valid() {
		d.malformed("a TypeMeta", "malformed protobuf")
	}
	if !strings.HasSuffix(meta.Kind, "List") {
		d.notList("a list", "an object of kind "+shorten([]byte(Redact(d.source, meta.Kind))))
	}
}

// items reads the fields of a list: its ListMeta and its items.
func (d *protoDecoder) items(meta *ListMeta, o *Scanned, item func() bool) bool {
	size := d.Uvarint()
	end := d.Offset() + int64(size)
	if size > 1<<62 {
		return d.malformed("the length of a list", strconv.FormatUint(size, 10)+" bytes")
	}
	for d.Err() == nil && d.Offset() < end {
		tag, length := d.Uvarint(), uint64(0)
		switch tag & 7 {
		case protoscan.Bytes:
			length = d.Uvarint()
		case 0:
			d.Uvarint()
		default:
			return d.malformed("a list", "a field of another type")
		}
		if d.Err() == nil && length > uint64(max(end-d.Offset(), 0)) {
			return d.malformed("a field within the list", "one that is longer than the list")
		}
		switch tag {
		case 1<<3 | protoscan.Bytes:
			d.listMeta(meta, d.Frame(length))
		case 2<<3 | protoscan.Bytes:
			if data := d.Frame(length); d.Err() != nil || !d.item(o, data) || !item() {
				return false
			}
		default:
			d.Discard(length)
		}
	}
	return d.Err() == nil
}

func (d *protoDecoder) item(o *Scanned, data []byte) bool {
	if !d.object(o, data) {
		return false
	}
	if o.name.Start == o.name.End {
		return d.notList("an item with metadata.name", "none")
	}
	return true
}

func (d *protoDecoder) listMeta(meta *ListMeta, data []byte) {
	m := protoscan.Of(data)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		switch {
		case f.Number == 4 && f.Type != protoscan.Bytes:
			meta.RemainingItemCount = int64(f.Int)
		case f.Type != protoscan.Bytes:
		case f.Number == 2:
			meta.ResourceVersion = string(m.Bytes(f))
		case f.Number == 3:
			meta.Continue = string(m.Bytes(f))
		case f.Number == 5:
			meta.ShardSelector = string(lastField(m.Bytes(f), 1))
		}
	}
	if !m.Valid() {
		d.malformed("the list's metadata", "malformed protobuf")
	}
}

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
