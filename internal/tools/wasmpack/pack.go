// Package wasmpack reduces the compressed size of Go programs for wasm. Go's linker omits each run of eight zero bytes
// from the data and starts a new segment after it. The addresses of the resulting tens of thousands of segments do not
// compress. Joining the segments adds zeros but makes the module 7 % smaller after brotli.
package wasmpack

import (
	"encoding/binary"
	"errors"
)

// These constants are part of the wasm binary format: https://webassembly.github.io/spec/core/binary/modules.html
const (
	header      = "\x00asm\x01\x00\x00\x00"
	dataSection = 11
	dataCount   = 12 // section that Go never writes

	opI32Const = 0x41
	opEnd      = 0x0b
)

// widest is the maximum number of zero bytes between joined segments. Any value is correct, because memory is initially
// zero. The few longer gaps are zeroed variables. Joining across them would only make the file larger.
const widest = 1024

var errShape = errors.New("wasmpack: the input is not a wasm module from the Go compiler")

// segment is the initial content of a range of memory.
type segment struct {
	at   uint32
	data []byte
}

// Pack joins the data segments of a wasm module and removes its source positions. All other sections remain unchanged.
// Pack returns an error if the module is not from the Go compiler.
func Pack(module []byte) ([]byte, error) {
	if len(module) < len(header) || string(module[:len(header)]) != header {
		return nil, errShape
	}
	packed := append(make([]byte, 0, len(module)+len(module)/4), header...)
	for in := (reader{rest: module[len(header):]}); len(in.rest) > 0; {
		before := in.rest
		id := in.byte()
		content := in.bytes(in.unsigned())
		switch {
		case in.short || id == dataCount:
			return nil, errShape
		case id != dataSection:
			packed = append(packed, before[:len(before)-len(in.rest)]...)
			continue
		}
		segments, err := readSegments(content)
		if err != nil {
			return nil, err
		}
		segments = join(segments)
		for _, s := range segments {
			if err := dropLines(s.data); err != nil {
				return nil, err
			}
		}
		content = appendSegments(nil, segments)
		packed = binary.AppendUvarint(append(packed, dataSection), uint64(len(content)))
		packed = append(packed, content...)
	}
	return packed, nil
}

func readSegments(content []byte) ([]segment, error) {
	in := reader{rest: content}
	var segments []segment
	for range in.unsigned() {
		kind, op := in.byte(), in.byte() // kind 0 is an active segment in memory 0
		at := in.signed()
		end := in.byte()
		data := in.bytes(in.unsigned())
		if in.short || kind != 0 || op != opI32Const || end != opEnd {
			return nil, errShape
		}
		segments = append(segments, segment{uint32(at), data})
	}
	if len(in.rest) > 0 {
		return nil, errShape
	}
	return segments, nil
}

// join merges segments that are separated by a small gap. It does not merge overlapping segments, because the later
// segment overwrites the earlier segment.
func join(segments []segment) []segment {
	var joined []segment
	for _, s := range segments {
		if len(joined) > 0 {
			last := &joined[len(joined)-1]
			end := last.at + uint32(len(last.data))
			if end <= s.at && s.at-end <= widest {
				last.data = append(append(last.data, make([]byte, s.at-end)...), s.data...)
				continue
			}
		}
		joined = append(joined, segment{s.at, append([]byte(nil), s.data...)})
	}
	return joined
}

func appendSegments(to []byte, segments []segment) []byte {
	to = binary.AppendUvarint(to, uint64(len(segments)))
	for _, s := range segments {
		to = appendSigned(append(to, 0, opI32Const), int32(s.at))
		to = binary.AppendUvarint(append(to, opEnd), uint64(len(s.data)))
		to = append(to, s.data...)
	}
	return to
}

// appendSigned appends n in signed LEB128, which package encoding/binary does not support.
func appendSigned(to []byte, n int32) []byte {
	for n < -64 || n > 63 {
		to = append(to, byte(n)|0x80)
		n >>= 7
	}
	return append(to, byte(n)&0x7f)
}

// reader reads numbers and bytes. After an unexpected end of the input, short is set and reads return zero.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.short, r.rest = true, nil
		return nil
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) unsigned() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.bytes(uint64(max(size, 0)))
	r.short = r.short || size <= 0
	return n
}

func (r *reader) signed() int32 {
	var n int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			return int32(n << (57 - shift) >> (57 - shift)) // sign extension
		}
	}
	r.short = true
	return 0
}
