package lw

import (
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
	"github.com/seed-6d2a410a/listwatch/lw/internal/protoscan"
)

// magic precedes every object in protobuf except list items. A runtime.Unknown message follows it and contains the
// object.
const magic = "k8s\x00"

// protoDecoder decodes protobuf.
type protoDecoder struct {
	*jsonscan.Reader // its methods do nothing after an error
	redact           redaction
}

func newProtoDecoder(body io.Reader, maxFrame int, progress func()) protoDecoder {
	r := jsonscan.New(body, frameLimit(maxFrame))
	r.Progress = progress
	return protoDecoder{Reader: r}
}

// offset returns the current position in the response body, for error messages.
func (d protoDecoder) offset() int64 { return d.Offset(d.Pos()) }

// malformed records an error at the current offset. It returns false.
func (d protoDecoder) malformed(expected, found string) bool {
	return d.Fail(&jsonscan.SyntaxError{Offset: d.offset(), Expected: expected, Found: found})
}

// notList records an error for a response that is not a list. It returns false.
func (d protoDecoder) notList(expected, found string) bool {
	return d.Fail(&jsonscan.SyntaxError{Offset: d.offset(), Expected: expected, Found: found, Err: ErrNotList})
}

// Begin blocks until the next byte arrives. It returns false at the end of the stream and after an error.
func (d protoDecoder) Begin() bool { return d.Await() }

// uvarint reads a varint and returns its value. After an error it returns zero.
func (d protoDecoder) uvarint() uint64 {
	var text [protoscan.MaxVarint]byte
	for i := range text {
		if text[i] = d.Byte(); text[i] < 0x80 {
			break
		}
	}
	v, size := protoscan.Uvarint(text[:])
	if size == 0 {
		d.malformed("a 64-bit varint", "a longer varint")
	}
	if d.Err() != nil {
		return 0
	}
	return v
}

// event reads the next watch event: a four-byte big-endian length and a WatchEvent, which contains the event type in
// field 1 and a runtime.RawExtension in field 2. Field 1 of the RawExtension contains the object.
func (d protoDecoder) event(o *Scanned) (EventType, bool) {
	if !d.Begin() {
		return 0, false
	}
	size := uint64(0)
	for range 4 {
		size = size<<8 | uint64(d.Byte())
	}
	if first := byte(size >> 24); first == '<' || first == '{' { // as a length, this would mean about 1 GiB or more
		return 0, d.malformed("a protobuf watch event", "'"+string(rune(first))+"' (HTML or JSON? the response may come from a proxy)")
	}
	event := protoscan.Message(d.Bytes(size))
	if d.Err() != nil {
		return 0, false
	}
	if !event.Valid() {
		return 0, d.malformed("a WatchEvent", "malformed protobuf")
	}
	name := event.Bytes(1)
	eventType, known := wireType(name)
	if !known {
		return 0, d.malformed("an event of type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", shorten([]byte(d.redact.text(string(name)))))
	}
	kind, body, ok := envelope(event.Bytes(2).Bytes(1))
	if !ok {
		return 0, d.malformed("a protobuf object in the event", "another encoding")
	}
	if eventType == errorEvent {
		o.body = body
		return eventType, string(kind) == "Status" || d.malformed("a Status in the ERROR event", "another object")
	}
	if !d.object(o, body) {
		return 0, false
	}
	if o.initialEventsEnd {
		o.endKind = string(kind)
	}
	if eventType != Bookmark && o.name.Start == o.name.End {
		return 0, d.malformed("an object with metadata.name", "none")
	}
	return eventType, true
}

func (d protoDecoder) status(o *Scanned) error {
	e := &StatusError{}
	if !e.unmarshal(o.body, d.redact) {
		return &jsonscan.SyntaxError{Offset: d.offset(), Expected: "a Status", Found: "malformed protobuf"}
	}
	return e
}

// envelope parses an object that starts with magic. It returns the kind and the encoded object, which it takes from the
// runtime.Unknown message after these bytes. Field 1 of this message is a TypeMeta, whose field 2 is the kind. Field 2 of
// the message is the object.
func envelope(data []byte) (kind, object protoscan.Message, ok bool) {
	if !strings.HasPrefix(view(data), magic) {
		return nil, nil, false
	}
	unknown := protoscan.Message(data[len(magic):])
	return unknown.Bytes(1).Bytes(2), unknown.Bytes(2), unknown.Valid()
}

// list reads a list to its end: magic, then a runtime.Unknown message whose field raw contains the list. It reads the
// fields one by one instead of the whole message, so that only one item is in memory at a time.
func (d protoDecoder) list(meta *ListMeta, o *Scanned, item func() bool) {
	for i := range len(magic) {
		if b := d.Byte(); d.Err() == nil && b != magic[i] {
			d.notList("a protobuf list", shorten([]byte{b}))
		}
	}
	found := false
	for d.Err() == nil && !(found && d.AtEnd()) {
		tag := d.uvarint()
		switch {
		case d.Err() != nil:
			return
		case tag == 1<<3|protoscan.Bytes: // typeMeta
			d.typeMeta(meta, d.Bytes(d.uvarint()))
		case tag == 2<<3|protoscan.Bytes && !found: // raw
			found = true
			if meta.kind == "" {
				d.notList("the kind of the list before its items", "the items")
				return
			}
			if !d.items(meta, o, item) {
				return
			}
		case tag&7 == protoscan.Bytes:
			d.Bytes(d.uvarint())
		default:
			d.malformed("a runtime.Unknown", "another message")
		}
	}
}

// typeMeta reads the kind and apiVersion of a list.
func (d protoDecoder) typeMeta(meta *ListMeta, m protoscan.Message) {
	meta.apiVersion, meta.kind = string(m.Bytes(1)), string(m.Bytes(2))
	if !m.Valid() {
		d.malformed("a TypeMeta", "malformed protobuf")
	}
	if !strings.HasSuffix(meta.kind, "List") {
		d.notList("a list", "an object of kind "+shorten([]byte(d.redact.text(meta.kind))))
	}
}

// items reads the metadata and the items of a list. It returns false after an error, or if the callback item returns
// false.
func (d protoDecoder) items(meta *ListMeta, o *Scanned, item func() bool) bool {
	size := d.uvarint()
	end := d.offset() + int64(size)
	if size > 1<<62 {
		return d.malformed("a list length of at most 62 bits", "a larger number")
	}
	for d.Err() == nil && d.offset() < end {
		tag, length := d.uvarint(), uint64(0)
		switch tag & 7 {
		case protoscan.Bytes:
			length = d.uvarint()
		case 0: // a varint, which has no length
			d.uvarint()
		default:
			return d.malformed("a bytes or varint field in the list", "another wire type")
		}
		if d.Err() == nil && length > uint64(max(end-d.offset(), 0)) {
			return d.malformed("a field within the list", "a field longer than the list")
		}
		switch tag {
		case 1<<3 | protoscan.Bytes: // metadata
			d.listMeta(meta, d.Bytes(length))
		case 2<<3 | protoscan.Bytes: // an item
			if data := d.Bytes(length); d.Err() != nil || !d.object(o, data) {
				return false
			}
			if o.name.Start == o.name.End {
				return d.notList("an item with metadata.name", "none")
			}
			if !item() {
				return false
			}
		default:
			d.Bytes(length)
		}
	}
	return d.Err() == nil
}

// listMeta reads a metav1.ListMeta.
func (d protoDecoder) listMeta(meta *ListMeta, m protoscan.Message) {
	meta.ResourceVersion = string(m.Bytes(2))
	meta.Continue = string(m.Bytes(3))
	meta.RemainingItemCount = int64(m.Int(4))
	if !m.Valid() {
		d.malformed("the list's metadata", "malformed protobuf")
	}
}

// These are the protobuf field numbers of metadata in every object, and of the fields in metav1.ObjectMeta.
const (
	fieldMetadata        = 1
	fieldName            = 1
	fieldNamespace       = 3
	fieldUID             = 5
	fieldResourceVersion = 6
	fieldAnnotations     = 12
	fieldManagedFields   = 17
)

// object scans the object in data into o. To drop metadata.managedFields, it moves the other fields within data. It
// returns false if data is malformed.
func (d protoDecoder) object(o *Scanned, data protoscan.Message) bool {
	*o = Scanned{managed: o.managed}
	var metadata protoscan.Field
	valid := data.Valid()
	for f := range data.Fields() {
		if f.Number == fieldMetadata {
			valid = valid && f.Type == protoscan.Bytes && metadata.Number == 0
			metadata = f
		}
	}
	if !valid {
		return d.malformed("an object with one metadata field", "malformed protobuf")
	}
	if !data[metadata.Value:metadata.End].Valid() {
		return d.malformed("metadata", "malformed protobuf")
	}
	if !o.managed {
		data, metadata = dropManagedFields(data, metadata)
	}
	o.body = data
	fields := data[metadata.Value:metadata.End]
	for f := range fields.Fields() {
		if f.Type != protoscan.Bytes {
			continue
		}
		at := span{Start: metadata.Value + f.Value, End: metadata.Value + f.End}
		switch f.Number {
		case fieldName:
			o.name = at
		case fieldNamespace:
			o.namespace = at
		case fieldUID:
			o.uid = at
		case fieldResourceVersion:
			o.resourceVersion = at
		case fieldAnnotations:
			entry := fields[f.Value:f.End]
			if string(entry.Bytes(1)) == "k8s.io/initial-events-end" {
				o.initialEventsEnd = string(entry.Bytes(2)) == "true"
			}
		}
	}
	return true
}

// dropManagedFields removes managedFields from the object in data, without allocating. It overwrites data. It returns the
// remaining object and the object's metadata field. It moves the remaining metadata to the right, because the fields after
// the metadata, such as spec and status, then need not move.
func dropManagedFields(data protoscan.Message, metadata protoscan.Field) (protoscan.Message, protoscan.Field) {
	end := metadata.Value // end of the kept fields once they have moved to the left
	old := data[metadata.Value:metadata.End]
	for f := range old.Fields() {
		if f.Number != fieldManagedFields {
			end += copy(data[end:], old[f.Start:f.End])
		}
	}
	if end == metadata.End {
		return data, metadata
	}
	kept := end - metadata.Value
	// One byte for the tag, and 10 bytes for the longest varint. The new header is at most as long as the old one.
	header := protoscan.Message{fieldMetadata<<3 | protoscan.Bytes, 10: 0}
	header = header[:1+protoscan.PutUvarint(header[1:], uint64(kept))]
	start := metadata.End - kept - len(header) - metadata.Start
	copy(data[metadata.End-kept:metadata.End], data[metadata.Value:end])
	copy(data[start:], data[:metadata.Start])
	copy(data[start+metadata.Start:], header)
	metadata.Value, metadata.End = metadata.End-kept-start, metadata.End-start
	return data[start:], metadata
}

// unmarshal sets the fields of e from a protobuf Status. It returns false if the message is invalid. It redacts all
// strings, because the server may repeat the credential of the request. The field numbers are those of metav1.Status,
// StatusDetails and StatusCause.
func (e *StatusError) unmarshal(status protoscan.Message, redact redaction) bool {
	if !status.Valid() {
		return false
	}
	text := func(m protoscan.Message, number int) string { return redact.text(string(m.Bytes(number))) }
	details := status.Bytes(5)
	e.Code = int(int32(status.Int(6)))
	e.Message = text(status, 3)
	e.Reason = text(status, 4)
	e.Name = text(details, 1)
	e.Group = text(details, 2)
	e.Kind = text(details, 3)
	e.RetryAfter = seconds(int(int32(details.Int(5))))
	for f := range details.Fields() {
		if f.Number == 4 && f.Type == protoscan.Bytes {
			cause := details[f.Value:f.End]
			e.Causes = append(e.Causes, StatusCause{Reason: text(cause, 1), Message: text(cause, 2), Field: text(cause, 3)})
		}
	}
	return true
}
