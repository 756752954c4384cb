// Package wasmpack makes the Go compiler's WebAssembly modules smaller after compression with brotli. It joins data
// segments, which saves 8 % of the compressed size, and clears source positions, which saves another 8 %.
package wasmpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// These constants are part of the wasm binary format: https://webassembly.github.io/spec/core/binary/modules.html
const (
	header      = "\x00asm\x01\x00\x00\x00"
	dataSection = 11
	dataCount   = 12 // a section that would contain the number of segments; Go never writes it

	opI32Const = 0x41
	opEnd      = 0x0b
)

// widest is the maximum number of zero bytes between joined segments. Any value is correct, because memory is initially
// zero. The few longer gaps contain zeroed variables, and joining across them would only make the file larger.
const widest = 1024

var errShape = errors.New("wasmpack: the input is not a wasm module from the Go compiler")

// Pack joins the data segments of a wasm module and clears its source positions. Stack traces then show function names
// without files and lines. Pack returns an error if the module is not from the Go compiler.
func Pack(module []byte) (packed []byte, err error) {
	defer func() {
		if recover() != nil { // an offset or a length in the module exceeds the data that follows
			packed, err = nil, errShape
		}
	}()
	in := reader(module)
	must(string(in.bytes(uint64(len(header)))) == header)
	packed = append(packed, header...)
	for len(in) > 0 {
		id := in.byte()
		content := in.bytes(in.number())
		must(id != dataCount)
		if id == dataSection {
			content = join(content)
		}
		packed = binary.AppendUvarint(append(packed, id), uint64(len(content)))
		packed = append(packed, content...)
	}
	return packed, nil
}

// must panics if ok is false, which makes Pack return errShape.
func must(ok bool) {
	if !ok {
		panic(errShape)
	}
}

// segment is the initial content of a range of memory.
type segment struct {
	at   uint64
	data []byte
}

// join returns a data section in which close segments are joined. Go's linker omits each run of eight zero bytes and
// starts a new segment after it. The addresses of these tens of thousands of segments do not compress well. Overlapping
// segments remain separate, because the later one overwrites the earlier one.
func join(content []byte) []byte {
	in := reader(content)
	var joined []segment
	for range in.number() {
		must(in.byte() == 0 && in.byte() == opI32Const) // a segment that the runtime copies to a constant address
		at := in.number()
		must(at < 1<<31 && in.byte() == opEnd) // a larger number would be negative, because the format is signed
		data := in.bytes(in.number())
		if last := len(joined) - 1; last >= 0 {
			end := joined[last].at + uint64(len(joined[last].data))
			if end <= at && at-end <= widest {
				joined[last].data = append(append(joined[last].data, make([]byte, at-end)...), data...)
				continue
			}
		}
		joined = append(joined, segment{at, bytes.Clone(data)})
	}
	must(len(in) == 0)
	section := binary.AppendUvarint(nil, uint64(len(joined)))
	for _, s := range joined {
		clearLines(s.data)
		section = append(section, 0, opI32Const)
		for range 4 { // five bytes, because the sign bit of a shorter signed number might be set
			section = append(section, byte(s.at)|0x80)
			s.at >>= 7
		}
		section = binary.AppendUvarint(append(section, byte(s.at), opEnd), uint64(len(s.data)))
		section = append(section, s.data...)
	}
	return section
}

// tableStart is the start of the header (pcHeader) of Go's function table for wasm since Go 1.20. It contains a magic
// number, two zeros, the size of an instruction and the size of a pointer. runtime/symtab.go and runtime/runtime2.go
// define the layout. tableStart is computed by a function call. As a literal, it would appear in every module that
// contains this package, and Pack would take it for a table.
var tableStart = append(binary.LittleEndian.AppendUint32(nil, 0xfffffff1), 0, 0, 1, 8)

// clearLines clears the source positions in Go's function table, which only stack traces use. If the data contains no
// function table, clearLines does not change it.
func clearLines(data []byte) {
	start := bytes.Index(data, tableStart)
	if start < 0 {
		return
	}
	table := slices.Clip(data[start:]) // without spare capacity, so that slicing beyond the data panics
	word := func(at uint64) uint64 { return uint64(binary.LittleEndian.Uint32(table[at:])) }
	count, functions := word(8), word(64) // nfunc and pclnOffset of the header
	values := table[word(56):functions]   // all pc-value tables; 56 is the position of pctabOffset
	used := make([]byte, len(values))     // a copy of values in which zeros replace the source positions
	keep := func(offset uint64) {
		if offset == 0 { // the function has no such table
			return
		}
		// A table is a sequence of pairs of numbers with a terminating zero. Only the first number may also be zero.
		in := reader(values[offset:])
		for first := true; in.number() != 0 || first; first = false {
			in.number()
		}
		copy(used[offset:], values[offset:len(values)-len(in)])
	}
	for n := range count {
		f := functions + word(functions+8*n+4) // position of the runtime._func, which describes a function
		keep(word(f + 16))                     // pcsp
		clear(table[f+20 : f+28])              // pcfile and pcln
		clear(table[f+36 : f+40])              // startLine
		for i := range word(f + 28) {
			keep(word(f + 44 + 4*i)) // pcdata
		}
	}
	copy(values, used)
}

// reader reads numbers and bytes. It panics at an unexpected end of the input.
type reader []byte

func (r *reader) byte() byte { return r.bytes(1)[0] }

func (r *reader) bytes(n uint64) []byte {
	must(n <= uint64(len(*r)))
	part := (*r)[:n]
	*r = (*r)[n:]
	return part
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(*r)
	must(size > 0)
	*r = (*r)[size:]
	return n
}
