//go:build js

package main

import (
	"math/bits"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// row is what is kept of an object. What the host holds already needs no second copy here.
type row struct {
	key       string // as [lw.Key.String] writes it
	namespace int    // how much of it is the namespace
	uid       string
	version   string
	sum       string  // of the object's text: its length and checksum
	text      *[]byte // the object's text until the host has it
}

func (r *row) GetNamespace() string       { return r.key[:r.namespace] }
func (r *row) GetUID() string             { return r.uid }
func (r *row) GetResourceVersion() string { return r.version }
func (r *row) GetName() string {
	if r.namespace == 0 {
		return r.key
	}
	return r.key[r.namespace+1:]
}

// codec makes an object's text; that of lw does.
type codec interface {
	AppendText([]byte, *lw.Scanned) []byte
	DropsManagedFields() bool
}

// rowPool is the codec of one collection's rows.
type rowPool struct {
	codec
	spare *[]byte // a buffer for the next object's text
}

func (c *rowPool) buffer() *[]byte {
	b := c.spare
	if c.spare = nil; b == nil {
		b = new([]byte)
	}
	return b
}

// Decode implements [lw.Codec]. The row has the object's text until [rows.take].
func (c *rowPool) Decode(s *lw.Scanned) (*row, error) {
	b := c.buffer()
	*b = c.AppendText((*b)[:0], s)
	r := newRow(s.Namespace(), s.Name(), s.UID(), s.ResourceVersion(), appendSum(nil, *b))
	r.text = b
	return r, nil
}

// take returns the text of a row's object, which the row then has no longer. It is valid until the next object is decoded.
func (c *rowPool) take(r *row) []byte {
	c.spare, r.text = r.text, nil
	return *c.spare
}

// Same compares the sums of the texts.
func (c *rowPool) Same(r *row, s *lw.Scanned) bool {
	b := c.buffer()
	*b = c.AppendText((*b)[:0], s)
	c.spare = b
	var sum [32]byte
	return r.sum == string(appendSum(sum[:0], *b))
}

// newRow copies the texts, all into one.
func newRow(namespace, name, uid, version, sum []byte) *row {
	all := make([]byte, 0, 128)
	if all = append(all, namespace...); len(namespace) > 0 {
		all = append(all, '/')
	}
	all = append(all, name...)
	key := len(all)
	text := string(append(append(append(all, uid...), version...), sum...))
	r := &row{key: text[:key], namespace: len(namespace)}
	text = text[key:]
	r.uid, text = text[:len(uid)], text[len(uid):]
	r.version, r.sum = text[:len(version)], text[len(version):]
	return r
}

// appendSum appends the length of a text and its hash, as numbers. They tell versions of one object apart, which nobody
// chooses so that they collide.
func appendSum(b, text []byte) []byte {
	b = append(strconv.AppendInt(b, int64(len(text)), 10), '-')
	return strconv.AppendUint(b, hash(text), 36)
}

// hash mixes eight bytes at a time, as XXH64 does, in two lanes, which do not wait for each other. A checksum of hash/crc32
// takes seven times as long here, a tenth of all the time that an event takes.
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

const odd, other uint64 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93

func mix(sum, word uint64) uint64 { return bits.RotateLeft64(sum+word*other, 31) * odd }

func word(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
