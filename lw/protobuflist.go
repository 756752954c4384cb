//go:build !js

package lw

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw/internal/protoscan"
)

// list reads a list to its end: the bytes "k8s\x00", then a runtime.Unknown message whose field raw contains the list.
func (d *protoDecoder) list(meta *ListMeta, o *Scanned, item func() bool) {
	for i := range len(magic) {
		if b := d.r.Byte(); d.r.Err() == nil && b != magic[i] {
			d.notList("a protobuf list", shorten([]byte{b}))
		}
	}
	found := false
	for d.r.Err() == nil && !(found && d.r.AtEnd()) {
		tag := d.r.Uvarint()
		switch {
		case d.r.Err() != nil:
			return
		case tag == 1<<3|protoscan.Bytes:
			d.typeMeta(meta, d.r.Frame(d.r.Uvarint()))
		case tag == 2<<3|protoscan.Bytes && !found:
			found = true
			if meta.kind == "" {
				d.notList("the kind of the list before its items", "the items")
				return
			}
			if !d.items(meta, o, item) {
				return
			}
		case tag&7 == protoscan.Bytes:
			d.r.Discard(d.r.Uvarint())
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
			meta.apiVersion = string(m.Bytes(f))
		case f.Number == 2:
			meta.kind = string(m.Bytes(f))
		}
	}
	if !m.Valid() {
		d.malformed("a TypeMeta", "malformed protobuf")
	}
	if !strings.HasSuffix(meta.kind, "List") {
		d.notList("a list", "an object of kind "+shorten([]byte(redact.Body(d.source, meta.kind))))
	}
}

// items reads the metadata and the items of a list. It returns false after an error, or if the callback item returns
// false.
func (d *protoDecoder) items(meta *ListMeta, o *Scanned, item func() bool) bool {
	size := d.r.Uvarint()
	end := d.r.Offset() + int64(size)
	if size > 1<<62 {
		return d.malformed("a list length of at most 62 bits", "a larger number")
	}
	for d.r.Err() == nil && d.r.Offset() < end {
		tag, length := d.r.Uvarint(), uint64(0)
		switch tag & 7 {
		case protoscan.Bytes:
			length = d.r.Uvarint()
		case 0:
			d.r.Uvarint()
		default:
			return d.malformed("a bytes or varint field in the list", "another wire type")
		}
		if d.r.Err() == nil && length > uint64(max(end-d.r.Offset(), 0)) {
			return d.malformed("a field within the list", "a field longer than the list")
		}
		switch tag {
		case 1<<3 | protoscan.Bytes:
			d.listMeta(meta, d.r.Frame(length))
		case 2<<3 | protoscan.Bytes:
			if data := d.r.Frame(length); d.r.Err() != nil || !d.item(o, data) || !item() {
				return false
			}
		default:
			d.r.Discard(length)
		}
	}
	return d.r.Err() == nil
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
			meta.shardSelector = string(lastField(m.Bytes(f), 1))
		}
	}
	if !m.Valid() {
		d.malformed("the list's metadata", "malformed protobuf")
	}
}
