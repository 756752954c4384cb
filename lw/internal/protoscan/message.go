// Package protoscan reads protocol buffers without copying them, for the protobuf decoder of package lw. It implements only
// the wire format: https://protobuf.dev/programming-guides/encoding/
package protoscan

import "iter"

// These are the wire types of protobuf fields.
const (
	varint  = 0
	fixed64 = 1
	Bytes   = 2 // a string, bytes or an embedded message
	fixed32 = 5
)

// MaxVarint is the size of the largest varint, in bytes. Each byte contains 7 of its 64 bits.
const MaxVarint = 10

// Message is an encoded protobuf message.
type Message []byte

// Field is one field of a message. The positions are relative to the first byte of the message.
type Field struct {
	Number int
	Type   int    // wire type, for example Bytes
	Start  int    // position of the tag
	Value  int    // position of the value, after the tag and, for Bytes, after the length
	End    int    // position after the value
	Int    uint64 // value of the field if its wire type is varint
}

// Fields returns an iterator over the fields of a message. It stops at the first malformed field.
func (m Message) Fields() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for at := 0; at < len(m); {
			f, ok := m.field(at)
			if !ok || !yield(f) {
				return
			}
			at = f.End
		}
	}
}

// Valid reports whether all fields of the message are well-formed. It does not check embedded messages.
func (m Message) Valid() bool {
	end := 0
	for f := range m.Fields() {
		end = f.End
	}
	return end == len(m)
}

// Bytes returns the value of a bytes field without copying it, or nil if the field is missing. If the field occurs
// several times, the last value counts.
func (m Message) Bytes(number int) (value Message) {
	for f := range m.Fields() {
		if f.Number == number && f.Type == Bytes {
			value = m[f.Value:f.End]
		}
	}
	return value
}

// Int returns the value of a varint field, or zero if the field is missing. If the field occurs several times, the last
// value counts.
func (m Message) Int(number int) (value uint64) {
	for f := range m.Fields() {
		if f.Number == number && f.Type == varint {
			value = f.Int
		}
	}
	return value
}

// field decodes the field whose tag is at the given position.
func (m Message) field(at int) (f Field, ok bool) {
	tag, size := Uvarint(m[at:])
	f = Field{Number: int(tag >> 3), Type: int(tag & 7), Start: at, Value: at + size}
	if size == 0 || f.Number == 0 || tag>>3 > 1<<29-1 { // the valid numbers have 29 bits
		return f, false
	}
	length := uint64(0)
	switch f.Type {
	case varint:
		f.Int, size = Uvarint(m[f.Value:])
		length, ok = uint64(size), size > 0
	case fixed64:
		length, ok = 8, true
	case fixed32:
		length, ok = 4, true
	case Bytes:
		length, size = Uvarint(m[f.Value:])
		f.Value, ok = f.Value+size, size > 0
	} // groups are deprecated, and Kubernetes does not use them
	if !ok || length > uint64(len(m)-f.Value) {
		return f, false
	}
	f.End = f.Value + int(length)
	return f, true
}

// Uvarint decodes a varint at the beginning of data. It returns a size of zero if the varint is incomplete or longer
// than 64 bits.
func Uvarint(data []byte) (v uint64, size int) {
	for i := range min(len(data), MaxVarint) {
		b := data[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if i == MaxVarint-1 && b > 1 { // only one bit is left for the last byte
				break
			}
			return v, i + 1
		}
	}
	return 0, 0
}

// PutUvarint encodes a varint at the beginning of data and returns its size.
func PutUvarint(data []byte, v uint64) int {
	size := 0
	for ; v >= 0x80; v >>= 7 {
		data[size] = byte(v) | 0x80
		size++
	}
	data[size] = byte(v)
	return size + 1
}
