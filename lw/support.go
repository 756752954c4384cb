package lw

import "sync/atomic"

// maxStreamFaults is the number of consecutive failed streaming lists after which the client stops requesting them. A
// single failure may mean only that the server shut down.
const maxStreamFaults = 2

// support records the known capabilities of a server. All streams of a [Client] share it.
type support struct {
	noStreams     bool // whether the source lacks streaming lists
	streamFaults  atomic.Int32
	streamsProven atomic.Bool // whether a watch after a streaming list was healthy
	bookmarks     atomic.Bool // whether the server sends bookmarks
	pages         atomic.Bool // whether the server split a list at resourceVersion "0" into pages, because it has no watch cache
	kind          atomic.Pointer[string]
}

// streamsLists reports whether to request streaming lists.
func (s *support) streamsLists() bool {
	return !s.noStreams && s.streamFaults.Load() < maxStreamFaults
}

// streamFailed records a failed streaming list. A 4xx response disables streaming lists at once.
func (s *support) streamFailed(err error) {
	if code := statusCode(err); code >= 400 && code < 500 {
		s.stopStreams()
		return
	}
	s.streamFaults.Add(1)
}

func (s *support) stopStreams() { s.streamFaults.Store(maxStreamFaults) }

// streamWorked records a healthy watch after a streaming list and resets the count of failures.
func (s *support) streamWorked() {
	s.streamsProven.Store(true)
	s.streamFaults.Store(0)
}
