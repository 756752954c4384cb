//go:build js

package jsx

import (
	"context"
	"io"
	"strconv"
	"syscall/js"
	"time"
	"unsafe"
)

// Warn logs a warning to the console of the browser or of Node.js. It does not require wasm/glue.js.
func Warn(text string) { js.Global().Get("console").Call("warn", text) }

// LogText formats a message and its attributes, which alternate between keys and values like the arguments of package
// log/slog. A value must be a string, an int or a time.Duration. LogText does not use package fmt, which would enlarge
// the WASM module.
func LogText(msg string, args ...any) string {
	for i, arg := range args {
		if i%2 == 0 {
			msg += ", "
		} else {
			msg += ": "
		}
		switch arg := arg.(type) {
		case string:
			msg += arg
		case int:
			msg += strconv.Itoa(arg)
		case time.Duration:
			msg += arg.String()
		}
	}
	return msg
}

//go:wasmimport listwatch ask
func ask(id int32)

//go:wasmimport listwatch emit
func emit(id int32, p unsafe.Pointer, n int32)

// Ask sends a question to the JavaScript host, for example a request for the next command or for a token. It blocks
// until the host answers, and returns the answer. It returns an error if the host cannot answer.
func Ask(ctx context.Context, question string) ([]byte, error) {
	s := NewStream(ctx, question)
	defer s.Close()
	ask(s.id)
	if _, err := s.opened(); err != nil {
		return nil, err
	}
	return io.ReadAll(s)
}

// Borrow asks the JavaScript host for a resource that Go may use until the host recalls it. It returns up to 64 bytes
// of the host's answer, and a stream. Closing the stream gives the resource back. [Stream.Recalled] blocks until the
// host wants the resource back.
func Borrow(ctx context.Context, question string) (s *Stream, text string, err error) {
	s = NewStream(ctx, question)
	ask(s.id)
	part, n := make([]byte, 64), 0
	if _, err = s.opened(); err == nil {
		n, err = s.Read(part)
	}
	if err != nil && err != io.EOF { // io.EOF only means that the answer is empty
		_ = s.Close()
		return nil, "", err
	}
	return s, string(part[:n]), nil
}

// Recalled blocks until the host wants the borrowed resource back, and then returns true. It returns false if the
// context of the stream is done or the stream is closed first. See [Borrow].
func (s *Stream) Recalled() bool {
	_, err := s.Read(make([]byte, 1))
	return err == io.EOF
}

// Emit passes p to the receiver with the given ID in the JavaScript host. The host copies p before Emit returns.
func Emit(id int32, p []byte) { emit(id, unsafe.Pointer(unsafe.SliceData(p)), int32(len(p))) }
