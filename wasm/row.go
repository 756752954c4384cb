//go:build js

package main

import (
	"math/bits"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// row contains the fields of an object that the module stores. The host stores the complete object.
type row struct {
	namespace, name, uid, version string

	sum  string  // length and checksum of the object's JSON; detects a changed object after the JSON is gone
	text *[]byte // the object's JSON until it is sent to the host, then nil
}

func (r *row) GetNamespace() string       { return r.namespace }
func (r *row) GetName() string            { return r.name }
func (r *row) GetUID() string             { return r.uid }
func (r *row) GetResourceVersion() string { return r.version }

// rowPool is the codec of one collection. A row needs its JSON only until it is sent, so rowPool reuses the buffer. This
// keeps the memory of the module small, because WASM memory never shrinks.
type rowPool struct {
	fields lw.RawCodec // fields that the text of a row contains
	spare  *[]byte     // buffer that the next object reuses
}

// text returns a buffer with the JSON of an object. The JSON contains only the fields that the codec keeps.
func (c *rowPool) text(s *lw.Scanned) *[]byte {
	b := c.spare
	if c.spare = nil; b == nil {
		b = new([]byte)
	}
	*b = c.fields.AppendText((*b)[:0], s)
	return b
}

// Decode implements [lw.Codec]. The row holds the object's JSON until take removes it.
func (c *rowPool) Decode(s *lw.Scanned) (*row, error) {
	b := c.text(s)
	r := newRow(s.Namespace(), s.Name(), s.UID(), s.ResourceVersion(), appendSum(nil, *b))
	r.text = b
	return r, nil
}

// take removes the JSON from a row and returns it. The JSON is valid until the next call to Decode or same.
func (c *rowPool) take(r *row) []byte {
	c.spare, r.text = r.text, nil
	return *c.spare
}

// same reports whether the row has the checksum that Decode would compute for s.
func (c *rowPool) same(r *row, s *lw.Scanned) bool {
	b := c.text(s)
	c.spare = b
	var sum [32]byte
	return r.sum == string(appendSum(sum[:0], *b))
}

// Identity implements [lw.Codec]. A relist keeps a row that is the same, so the host does not receive its object again.
func (c *rowPool) Identity() lw.Identity[*row] {
	return lw.Identity[*row]{UID: (*row).GetUID, Same: c.same}
}

// newRow returns a row with copies of the arguments. The copies share one allocation.
func newRow(namespace, name, uid, version, sum []byte) *row {
	parts := [][]byte{namespace, name, uid, version, sum}
	all := make([]byte, 0, 128) // enough for the strings of most objects
	for _, part := range parts {
		all = append(all, part...)
	}
	r, text := new(row), string(all)
	for i, field := range []*string{&r.namespace, &r.name, &r.uid, &r.version, &r.sum} {
		*field, text = text[:len(parts[i])], text[len(parts[i]):]
	}
	return r
}

// appendSum appends the length and the hash of text to b. The hash is not cryptographic, because it only has to
// distinguish the versions of one object.
func appendSum(b, text []byte) []byte {
	b = append(strconv.AppendInt(b, int64(len(text)), 10), '-')
	return strconv.AppendUint(b, hash(text), 36)
}

// hash returns a hash of text. Like XXH64, it mixes 8 bytes at a time in independent lanes, but in two instead of four.
// hash/crc32 would be 7 times as slow and would take a tenth of the processing time of an event.
func hash(text []byte) uint64 {
	a, b := uint64(len(text)), odd
	for ; len(text) >= 16; text = text[16:] {
		a, b = mix(a, word(text)), mix(b, word(text[8:16]))
	}
	for _, c := range text {
		a = mix(a, uint64(c))
	}
	a = mix(a, b)
	a = (a ^ a>>33) * other
	return a ^ a>>29
}

// odd and other have well-mixed bits. They are odd numbers, so that multiplying by them loses no information.
const odd, other uint64 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93

func mix(sum, word uint64) uint64 { return bits.RotateLeft64(sum+word*other, 31) * odd }

func word(b []byte) uint64 {
	_ = b[7] // a single bounds check for all bytes
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
