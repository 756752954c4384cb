package measure

import (
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// State follows the [lw.State] of a traced stream. All methods may be called concurrently, because metrics are read in
// other goroutines than the stream's.
type State struct {
	mu    sync.Mutex
	state lw.State
}

// NewState returns the state of a stream that waits for its start.
func NewState() *State { return &State{state: lw.State{}.Started(time.Now())} }

// Begin must be called before each request. It starts the state again if the trace is reused for another stream.
func (s *State) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(time.Now())
}

func (s *State) begin(now time.Time) {
	if s.state.Phase == lw.Stopped {
		s.state = s.state.Started(now)
	}
}

// Event must be called for each event.
func (s *State) Event(event lw.Event[lw.Keyed]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.begin(now) // a restored state precedes the first request
	s.state = s.state.After(event.Type, event.Interruption, now)
}

// End must be called when the stream ends.
func (s *State) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = s.state.Ended(s.state.Cause, time.Now())
}

// Load returns the current state.
func (s *State) Load() lw.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Phases returns all phases.
func Phases() []lw.Phase { return []lw.Phase{lw.Waiting, lw.Listing, lw.Live, lw.Stale, lw.Stopped} }
