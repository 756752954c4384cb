// Package jsonscan reads JSON from a stream in one pass. It validates each byte as it arrives and reports where values lie in
// its buffer, without a copy.
//
// A frame is one JSON value of the stream, such as a line of newline-delimited JSON. Frames need no separator. The reader
// keeps the bytes of the current frame, so spans and positions in it stay valid while more of it arrives. They count from
// the mark, which is the first byte of the frame.
//
//	r := jsonscan.New(src, 1<<20)
//	defer r.Release()
//	for r.Begin() {
//		for more := r.Open('{', "an object"); more; more = r.More() {
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
// The reader accepts the JSON that encoding/json accepts, except for nesting deeper than 1,000 levels. It passes invalid
// UTF-8 and lone surrogates on.
package jsonscan
