// Package jsonscan reads JSON from a stream in one pass. It validates each byte as it arrives and reports the positions
// of values in its buffer without copying them. Package lw reads responses with it. Its functions for valid text, such as
// [ValueEnd], also find values in stored objects.
//
// A frame is one JSON value of the stream, such as a line of newline-delimited JSON. Frames need no separator. The
// reader keeps the bytes of the current frame, so spans and positions in it stay valid while the rest arrives. These
// positions are relative to the mark, which is the first byte of the frame. [Reader.Unmark] removes the mark, for example
// between the items of a list, so that the buffer need not keep the whole list.
//
//	r := jsonscan.New(src, 1<<20)
//	defer r.Release()
//	for r.Begin() {
//		for more := r.Open('{', "an object"); more; more = r.More('}') {
//			if string(r.Key()) == "name" {
//				name = append(name[:0], r.Content(r.String("a name"))...)
//			} else {
//				r.SkipValue()
//			}
//		}
//		if !r.EndFrame() {
//			break
//		}
//	}
//	return r.Err()
//
// The methods of a [Reader] do nothing after an error, so callers check [Reader.Err] once, after a loop.
//
// The reader accepts the same JSON as encoding/json, except for nesting deeper than 1,000 levels. It does not replace
// invalid UTF-8 and lone surrogates.
package jsonscan
