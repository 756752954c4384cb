package lw

import "time"

// EventType is the type of an [Event].
type EventType uint8

// The types of events. [ListAndWatch] yields all of them. [Client.Watch] yields WatchStarted, Added, Modified, Deleted and
// Bookmark, and in a streaming list also Synced.
const (
	// ListStarted means that a full list begins. The events up to Synced are the whole collection. A second ListStarted
	// without a Synced in between means that the first list failed and starts again.
	ListStarted EventType = iota + 1
	// Added, Modified and Deleted have the meaning that they have in the Kubernetes API. Event.Object of Deleted is the last
	// state of the object.
	Added
	Modified
	Deleted
	// Bookmark means that only the resourceVersion of the collection changed.
	Bookmark
	// Synced means that the list is complete. Objects without an event since ListStarted no longer exist.
	Synced
	// DecodeFailed means that the codec could not decode an object. Event.Err has its key and its event type. The previous
	// state of the object is stale until its next event. Other objects are not affected.
	DecodeFailed
	// WatchStarted means that a watch is open and resumes where the stream was. The state is no longer stale.
	WatchStarted
	// Interrupted means that the stream broke. Event.Interruption has the cause and the next request. The state is stale
	// until WatchStarted or Synced.
	Interrupted

	errorEvent // ERROR on the wire; callers see an error
)

var eventNames = [...]string{
	ListStarted: "LIST_STARTED", Added: "ADDED", Modified: "MODIFIED", Deleted: "DELETED", Bookmark: "BOOKMARK", Synced: "SYNCED",
	DecodeFailed: "DECODE_FAILED", WatchStarted: "WATCH_STARTED", Interrupted: "INTERRUPTED", errorEvent: "ERROR",
}

// String returns the type's name in capitals, as on the wire.
func (t EventType) String() string {
	if int(t) < len(eventNames) && t != 0 {
		return eventNames[t]
	}
	return "UNKNOWN"
}

// wireType reads the type of an event as servers write it.
func wireType(name []byte) (EventType, bool) {
	switch string(name) {
	case "ADDED":
		return Added, true
	case "MODIFIED":
		return Modified, true
	case "DELETED":
		return Deleted, true
	case "BOOKMARK":
		return Bookmark, true
	case "ERROR":
		return errorEvent, true
	}
	return 0, false
}

// Event is one step of a collection's history. State is the fold of its events.
type Event[T any] struct {
	Type   EventType
	Object T // for Added, Modified and Deleted
	// ResourceVersion is the collection's version after the event: where a watch would resume. While a list is being
	// read it is empty, as the list's version counts only when the list is complete.
	ResourceVersion string
	Interruption    *Interruption // for Interrupted
	Err             *DecodeError  // for DecodeFailed
}

// undecoded makes the event an DecodeFailed if err is a *DecodeError, and reports whether it is.
func (e *Event[T]) decodeFailed(err error) bool {
	decodeError, ok := err.(*DecodeError)
	if ok {
		*e = Event[T]{Type: DecodeFailed, Err: decodeError, ResourceVersion: e.ResourceVersion}
	}
	return ok
}

// Interruption says why the stream was interrupted, and how it goes on.
type Interruption struct {
	Err    error         // the typed cause, for errors.As and errors.Is: *StatusError, *MalformedError, ErrWatchClosed, or the transport's error
	Delay  time.Duration // how long until the next try
	Relist bool          // the next try is a list; else a watch from the last version seen
	Final  bool          // there is no next try: Options.StopOn asked to stop, and the sequence ends
}
