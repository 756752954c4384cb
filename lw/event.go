package lw

import (
	"time"
)

// EventType is the type of an [Event].
type EventType uint8

// The event types. [ListAndWatch] yields all of them except Restored. [Client.Watch] yields WatchStarted, Added,
// Modified, Deleted and Bookmark, and Synced in a streaming list.
const (
	// ListStarted means that a full list begins. The events up to Synced describe the whole collection. A second
	// ListStarted before Synced means that the list failed and was restarted.
	ListStarted EventType = iota + 1
	// Added, Modified and Deleted report changes as the Kubernetes watch API defines them. For Deleted, Event.Object is
	// the last state of the object.
	Added
	Modified
	Deleted
	// Bookmark reports a new resourceVersion of the collection, from which a later watch can resume. No object has
	// changed.
	Bookmark
	// Synced means that the list is complete. Objects without an event since ListStarted no longer exist.
	Synced
	// DecodeFailed means that the codec could not decode an object. Event.Err contains the object's key and event type.
	// The object's previous state stays known, but it is stale until the object's next event. Other objects are not
	// affected.
	DecodeFailed
	// WatchStarted means that a watch is open and continues from the current state. The state is no longer stale.
	WatchStarted
	// Interrupted means that the stream was interrupted. Event.Interruption contains the cause and the next request.
	// The state is stale until WatchStarted or Synced.
	Interrupted
	// Restored means that the objects since ListStarted are a complete saved state. The server has not confirmed this
	// state, so it is stale until WatchStarted or Synced. Only a cache.Informer yields this event.
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

// wireType converts the type of a watch event, for example "ADDED", to an EventType. It returns false for an unknown
// type.
func wireType(name []byte) (EventType, bool) {
	for _, t := range []EventType{Added, Modified, Deleted, Bookmark, errorEvent} {
		if eventNames[t] == string(name) {
			return t, true
		}
	}
	return 0, false
}

// Event is one step in the history of a collection. If you apply all events in order, you get the state of the
// collection.
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

// Phase says whether the known state of a collection is current.
type Phase uint8

const (
	// Waiting means that there is no complete state yet, and no list is in progress. The stream has not started, or it
	// retries a failed request.
	Waiting Phase = iota
	// Listing means that the first list is in progress, so some objects may still be missing.
	Listing
	// Live means that a watch is open, so the state follows the server.
	Live
	// Stale means that the state may be older than the server's. The connection is broken, or the state was restored and
	// the server has not confirmed it yet.
	Stale
	// Stopped means that the stream has ended.
	Stopped
)

var phaseNames = [...]string{Waiting: "waiting", Listing: "listing", Live: "live", Stale: "stale", Stopped: "stopped"}

// String returns the name of the phase in lower case, for example "live".
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

// State describes how current the known state of a collection is. The zero value is the state before the stream starts.
type State struct {
	Phase Phase
	Since time.Time // when the phase began; zero before the stream starts
	Cause error     // the last interruption, or nil if there was none since the collection was live

	complete bool // whether a list or a restored state is complete
}

// After returns the state that follows s when a stream yields an event of this type at the time now. interruption is
// the Interruption of the event. For the start of a stream, pass Interrupted with the Cause of s, so that the state is
// waiting or stale until the stream has confirmed it. For the end of a stream, pass Interrupted with Final set.
func (s State) After(t EventType, interruption *Interruption, now time.Time) State {
	phase, cause := s.Phase, s.Cause
	switch t {
	case ListStarted:
		if !s.complete {
			phase = Listing
		}
	case Restored:
		s.complete, phase = true, Stale
	case Synced: // the list is current, but only a watch shows that the state stays current
		s.complete = true
	case WatchStarted:
		s.complete, phase, cause = true, Live, nil
	case Interrupted:
		phase, cause = Waiting, interruption.Err
		if s.complete {
			phase = Stale
		}
		if interruption.Final {
			phase = Stopped
		}
	}
	if phase != s.Phase || s.Since.IsZero() {
		s.Since = now
	}
	s.Phase, s.Cause = phase, cause
	return s
}
