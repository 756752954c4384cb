package lw

import "time"

// EventType says what an [Event] means.
type EventType uint8

// The types of events. [Client.Watch] yields Live, Added, Modified, Deleted and Bookmark; [ListAndWatch] yields all.
const (
	// Reset: a full list begins. What follows up to Synced is all there is. After another Reset it means that the list
	// before it was not finished and starts again.
	ListStarted EventType = iota + 1
	// Added, Modified and Deleted are as on the wire. Deleted carries the object's last state.
	Added
	Modified
	Deleted
	// Bookmark: nothing changed, but the resource version moved.
	Bookmark
	// Synced: the list is complete; whatever was not seen since Reset is gone.
	Synced
	// DecodeFailed: an object came that the codec could not decode; Event.Err says which, and what happened to it. What is
	// known of it stays, and is stale until another event tells of it; a list has the object. Nothing else is lost.
	DecodeFailed
	// Live: a watch is open from where the stream was. What was folded is no longer stale.
	WatchStarted
	// Interrupted: the stream broke; Event.Interruption says why and what follows. What was folded is stale until Live or Synced.
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
