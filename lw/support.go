package lw

import "sync/atomic"

// maxStreamFaults is how many streaming lists in a row may fail before no more are requested. A server that shuts down
// fails one, too.
const maxStreamFaults = 2

// support is what is known of a server's abilities. All streams of one [Client] share it.
type support struct {
	noStreams     bool // the source never streams lists
	streamFaults  atomic.Int32
	streamsProven atomic.Bool // a watch behind a streaming list was healthy
	bookmarks     atomic.Bool // watches send bookmarks
	pages         atomic.Bool // a list of resourceVersion "0" came in pages: there is no watch cache that answers it whole
	kind          atomic.Pointer[string]
}

// streamsLists reports whether streaming lists are worth requesting.
func (s *support) streamsLists() bool {
	return !s.noStreams && s.streamFaults.Load() < maxStreamFaults
}

// streamFailed counts a streaming list that failed. A rejection as a wrong request settles it.
func (s *support) streamFailed(err error) {
	if code := statusCode(err); code >= 400 && code < 500 {
		s.stopStreams()
		return
	}
	s.streamFaults.Add(1)
}

// stopStreams settles that streaming lists are not worth requesting.
func (s *support) stopStreams() { s.streamFaults.Store(maxStreamFaults) }

// streamWorked forgets earlier failures, because the watch behind a streaming list was healthy.
func (s *support) streamWorked() {
	s.streamsProven.Store(true)
	s.streamFaults.Store(0)
}
