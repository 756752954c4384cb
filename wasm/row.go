//go:build js

package main

import (
	"hash/crc32"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// row is what is kept of an object. What the host holds already needs no second copy here.
type row struct {
	namespace, name, uid, version string
	sum                           string     // of the object's text: its length and checksum
	object                        *lw.Object // until the host was told of it
}

func (r *row) GetNamespace() string       { return r.namespace }
func (r *row) GetName() string            { return r.name }
func (r *row) GetUID() string             { return r.uid }
func (r *row) GetResourceVersion() string { return r.version }

// rows is the codec of rows, over the one that makes the objects' text.
type rows struct{ of lw.Codec[*lw.Object] }

// Decode implements [lw.Codec].
func (c rows) Decode(s *lw.Scanned) (*row, error) {
	object, err := c.of.Decode(s)
	if err != nil {
		return nil, err
	}
	r := newRow(object.GetNamespace(), object.GetName(), object.GetUID(), object.GetResourceVersion(), sum(object.Raw()))
	r.object = object
	return r, nil
}

// Same implements [lw.Comparer], by the texts' sums.
func (c rows) Same(r *row, s *lw.Scanned) bool {
	object, err := c.of.Decode(s)
	return err == nil && r.sum == sum(object.Raw())
}

// newRow copies the texts: as parts of the object's they would keep it.
func newRow(namespace, name, uid, version, sum string) *row {
	text := namespace + name + uid + version + sum
	cut := func(part string) string {
		first := text[:len(part)]
		text = text[len(part):]
		return first
	}
	return &row{namespace: cut(namespace), name: cut(name), uid: cut(uid), version: cut(version), sum: cut(sum)}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(text string) string {
	return strconv.Itoa(len(text)) + "-" + strconv.FormatUint(uint64(crc32.Checksum([]byte(text), castagnoli)), 36)
}
