// Package protoscan reads protocol buffers from memory with [Message], and from streams with [Reader]. It implements
// only the wire format: https://protobuf.dev/programming-guides/encoding/
package protoscan

// These are the wire types of protobuf fields.
const (
	varint  = 0
	fixed64 = 1
	Bytes   = 2 // a string, bytes or an embedded message
	fixed32 = 5
)

// Field is one field of a message. The positions are relative to the first byte of the message.
type Field struct {
	Number int
	Type   int    // wire type, for example Bytes
	Start  int    // position of the tag
	Value  int    // position of the content, after the length
	End    int    // position after the value
	Int    uint64 // value of the field if its wire type is varint
}

// Message iterates over the fields of a protobuf message in memory.
type Message struct {
	data []byte
	pos  int
	bad  bool
}

// Of returns an iterator over the fields of a message. It does not copy data.
func Of(data []byte) Message { return Message{data: data} }

// Next returns the next field. It returns false at the end and at the first malformed field.
func (m *Message) Next() (f Field, ok bool) {
	if m.bad || m.pos == len(m.data) {
		return f, false
	}
	f.Start = m.pos
	tag := m.uvarint()
	f.Number, f.Type = int(tag>>3), int(tag&7)
	size := uint64(0)
	switch f.Type {
	case varint:
		f.Value = m.pos
		f.Int = m.uvarint()
	case fixed64:
		size = 8
	case fixed32:
		size = 4
	case Bytes:
		size = m.uvarint()
	default: // groups are deprecated, and Kubernetes does not use them
		m.bad = true
	}
	if tag>>3 == 0 || tag>>3 > 1<<29-1 || size > uint64(len(m.data)-m.pos) {
		m.bad = true
	}
	if m.bad {
		return f, false
	}
	if f.Type != varint {
		f.Value = m.pos
		m.pos += int(size)
	}
	f.End = m.pos
	return f, true
}

// Valid reports whether all fields that Next has read were well-formed.
func (m *Message) Valid() bool { return !m.bad }

// Bytes returns the value of a field without copying it.
func (m *Message) Bytes(f Field) []byte { return m.data[f.Value:f.End] }

func (m *Message) uvarint() uint64 {
	v, n := uvarint(m.data[m.pos:])
	if n == 0 {
		m.bad = true
		return 0
	}
	m.pos += n
	return v
}
