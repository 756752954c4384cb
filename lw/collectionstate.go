package lw

import "time"

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

// String returns the name of the phase in lower case, for example "live".
func (p Phase) String() string {
	switch p {
	case Waiting:
		return "waiting"
	case Listing:
		return "listing"
	case Live:
		return "live"
	case Stale:
		return "stale"
	case Stopped:
		return "stopped"
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
// the Interruption of the event.
func (s State) After(t EventType, interruption *Interruption, now time.Time) State {
	next := s
	switch t {
	case ListStarted:
		if !s.complete {
			next.Phase = Listing
		}
	case Restored:
		next.complete, next.Phase = true, Stale
	case Synced: // the list is current, but only a watch shows that the state stays current
		next.complete = true
	case WatchStarted:
		next.complete, next.Phase, next.Cause = true, Live, nil
	case Interrupted:
		next.Cause, next.Phase = interruption.Err, next.disconnected()
		if interruption.Final {
			next.Phase = Stopped
		}
	}
	return next.since(s, now)
}

// Started returns the state of a stream that starts at the time now with the known state of an earlier stream.
func (s State) Started(now time.Time) State {
	next := s
	next.Phase = s.disconnected()
	return next.since(s, now)
}

// Ended returns the state of a stream that has ended at the time now. cause may be nil.
func (s State) Ended(cause error, now time.Time) State {
	next := s
	next.Phase, next.Cause = Stopped, cause
	return next.since(s, now)
}

// disconnected returns the phase without a connection.
func (s State) disconnected() Phase {
	if s.complete {
		return Stale
	}
	return Waiting
}

// since sets the time at which the phase began, if the phase differs from that of the previous state.
func (s State) since(previous State, now time.Time) State {
	if s.Phase != previous.Phase || previous.Since.IsZero() {
		s.Since = now
	}
	return s
}
