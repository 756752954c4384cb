package wasmpack

import (
	"bytes"
	"encoding/binary"
)

// tableStart is the start of the header (pcHeader) of Go's function table for wasm since Go 1.20. It contains a magic
// number, two zeros, the size of an instruction and the size of a pointer. runtime/symtab.go and runtime/runtime2.go
// define the layout.
var tableStart = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// dropLines clears the source positions in Go's function table, which only stack traces use. Stack traces then show
// function names without files and lines. Data without a function table is not changed. A malformed table is an error.
func dropLines(data []byte) error {
	start := bytes.Index(data, tableStart)
	if start < 0 {
		return nil
	}
	data = data[start:]
	header := reader{rest: data[len(tableStart):]}
	count := header.uint64()
	header.bytes(5 * 8) // skip nfiles, an unused word, funcnameOffset, cuOffset and filetabOffset
	values, functions := header.uint64(), header.uint64()
	if header.short || values > functions || functions > uint64(len(data)) {
		return errShape
	}
	d := lineDropper{values: data[values:functions], kept: make([]byte, functions-values)}
	index := reader{rest: data[functions:]}
	for range count {
		index.uint32() // skip the function's address
		f := reader{rest: data[functions:]}
		f.bytes(uint64(index.uint32()))
		if d.function(&f); index.short || f.short || d.short {
			return errShape
		}
	}
	copy(d.values, d.kept)
	return nil
}

// lineDropper clears source positions and collects the pc-value tables that remain in use.
type lineDropper struct {
	values []byte // all pc-value tables
	kept   []byte // copy of `values` in which zeros replace the unused tables
	short  bool   // a table has no terminating zero
}

// function reads a runtime._func, which describes a function, and clears its references to source positions.
func (d *lineDropper) function(f *reader) {
	f.bytes(4 * 4) // skip entryOff, nameOff, args and deferreturn
	d.keep(f.uint32())
	clear(f.bytes(2 * 4)) // clear pcfile and pcln
	count := f.uint32()
	f.bytes(4)        // skip cuOffset
	clear(f.bytes(4)) // clear startLine
	f.bytes(4)        // skip funcID, flag, padding and nfuncdata
	for n := uint32(0); n < count && !f.short; n++ {
		d.keep(f.uint32())
	}
}

// keep marks the pc-value table at offset as used. A table is a sequence of pairs of numbers with a terminating zero.
// Offset zero means that there is no table.
func (d *lineDropper) keep(offset uint32) {
	if offset == 0 {
		return
	}
	in := reader{rest: d.values}
	in.bytes(uint64(offset))
	for first := true; in.unsigned() != 0 || first && !in.short; first = false {
		in.unsigned()
	}
	end := len(d.values) - len(in.rest)
	if d.short = d.short || in.short; !d.short {
		copy(d.kept[offset:end], d.values[offset:end])
	}
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	low := r.uint32()
	return uint64(low) | uint64(r.uint32())<<32
}
