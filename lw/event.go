package lw

import "time"

// EventType is the type of an [Event].
type EventType uint8

// The event types. [ListAndWatch] yields all of them except Restored. [Client.Watch] yields WatchStarted, Added, Modified, Deleted and
// Bookmark, and Synced in a streaming list.
const (
	// ListStarted means that a full list begins. The events up to Synced describe the whole collection. A second
	// ListStarted before Synced means that the list failed and was restarted.
	ListStarted EventType = iota + 1
	// Added, Modified and Deleted report changes as the Kubernetes watch API defines them. For Deleted, Event.Object is
	// the last state of the object.
	Added
	Modified
	Deleted
	// Bookmark means that only the resourceVersion of the collection changed.
	Bookmark
	// Synced means that the list is complete. Objects without an event since ListStarted no longer exist.
	Synced
	// DecodeFailed means that the codec could not decode an object. Event.Err contains the object's key and event type.
	// The previous state of the object is stale until its next event. Other objects are not affected.
	DecodeFailed
	// WatchStarted means that a watch is open and continues from the current state. The state is no longer stale.
	WatchStarted
	// Interrupted means that the stream was interrupted. Event.Interruption contains the cause and the next request.
	// The state is stale until WatchStarted or Synced.
	Interrupted
	// Restored means that the objects since ListStarted are a complete saved state. The server has not confirmed it, so
	// it is stale until WatchStarted or Synced. Only a cache.Reflector yields this event.
	Restored

	errorEvent // an ERROR event, which is returned as an error instead of an Event
)

var eventNames = [...]string{
	ListStarted: "LIST_STARTED", Added: "ADDED", Modified: "MODIFIED", Deleted: "DELETED", Bookmark: "BOOKMARK", Synced: "SYNCED",
	DecodeFailed: "DECODE_FAILED", WatchStarted: "WATCH_STARTED", Interrupted: "INTERRUPTED", Restored: "RESTORED", errorEvent: "ERROR",
}

// String returns the name of the type in upper case, for example "ADDED".
func (t EventType) String() string {
	if int(t) < len(eventNames) && t != 0 {
		return eventNames[t]
	}
	return "UNKNOWN"
}

// wireType returns the EventType for the type of a watch event. It returns false for an unknown type.
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

// Event is one step in the history of a collection. The state of the collection is the fold of its events.
type Event[T any] struct {
	Type   EventType
	Object T // set for Added, Modified and Deleted
	// ResourceVersion is the resourceVersion of the collection after the event. A watch can resume from it. It is empty
	// while a list is incomplete.
	ResourceVersion string
	Interruption    *Interruption // set for Interrupted
	Err             *DecodeError  // set for DecodeFailed
}

// decodeFailed reports whether err is a *DecodeError. If so, it turns e into a DecodeFailed event.
func (e *Event[T]) decodeFailed(err error) bool {
	decodeError, ok := err.(*DecodeError)
	if ok {
		*e = Event[T]{Type: DecodeFailed, Err: decodeError, ResourceVersion: e.ResourceVersion}
	}
	return ok
}

// Interruption describes why the stream was interrupted and how it continues.
type Interruption struct {
	Err    error         // the cause, for errors.Is and errors.As
	Delay  time.Duration // delay before the next request
	Relist bool          // whether the next request is a list instead of a watch
	Final  bool          // whether the sequence ends because Options.StopOn returned true
}
