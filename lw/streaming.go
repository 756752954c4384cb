package lw

import (
	"errors"
	"sync/atomic"
)

// mostStreamFaults is how many streaming lists in a row may fail before no more are asked for. A server that shuts down
// fails one, too.
const mostStreamFaults = 2

// streamingVerdict is what is known of a server's streaming lists. All streams of one client share it.
// nil is that of a source that has none.
type streamingVerdict struct{ faults atomic.Int32 }

// offered reports whether streaming lists are worth asking for.
func (v *streamingVerdict) offered() bool { return v != nil && v.faults.Load() < mostStreamFaults }

func (v *streamingVerdict) succeeded() {
	if v != nil {
		v.faults.Store(0)
	}
}

// failed counts a streaming list that failed. One that was refused as a wrong request settles it.
func (v *streamingVerdict) failed(err error) {
	if e, ok := errors.AsType[*StatusError](err); ok && e.Code >= 400 && e.Code < 500 {
		v.faults.Store(mostStreamFaults)
		return
	}
	v.faults.Add(1)
}
