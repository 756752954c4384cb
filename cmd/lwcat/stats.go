package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// figures are what --stats ends with, as JSON. Times are in seconds.
type figures struct {
	Seconds         float64 `json:"seconds"`
	Events          int64   `json:"events"` // printed
	EventsPerSecond float64 `json:"eventsPerSecond"`
	Objects         int64   `json:"objects"` // that came, in lists and events
	Bytes           int64   `json:"bytes"`   // that came, after decompression
	BytesPerSecond  float64 `json:"bytesPerSecond"`
	Relists         int64   `json:"relists"`
	Interruptions   int64   `json:"interruptions"`
	DecodeSeconds   float64 `json:"decodeSeconds"`  // from bytes that are there to changes that are known
	MeanLagSeconds  float64 `json:"meanLagSeconds"` // from an event's bytes to its printed line
	MaxLagSeconds   float64 `json:"maxLagSeconds"`
}

// stats counts, for all streams together.
type stats struct {
	mu     sync.Mutex
	began  time.Time
	f      figures
	lag    time.Duration // sum
	decode time.Duration

	lists    int       // that arrive now
	since    time.Time // when the first of them began
	received int64     // their objects
	left     int64     // what the server says is to come
}

func newStats() *stats { return &stats{began: time.Now()} }

func (s *stats) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// total returns the figures up to now.
func (s *stats) total() figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.f
	f.Seconds = time.Since(s.began).Seconds()
	f.EventsPerSecond, f.BytesPerSecond = float64(f.Events)/f.Seconds, float64(f.Bytes)/f.Seconds
	f.DecodeSeconds = s.decode.Seconds()
	if f.Events > 0 {
		f.MeanLagSeconds = s.lag.Seconds() / float64(f.Events)
	}
	return f
}

// json is the line at the end.
func (f figures) json() string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// line is what a terminal shows meanwhile; before is what was so a moment ago.
func (f figures) line(before figures) string {
	seconds := f.Seconds - before.Seconds
	return fmt.Sprintf("%d events, %.0f/s, %s/s, lag %.1f ms at most, %d relists, %d interruptions",
		f.Events, float64(f.Events-before.Events)/seconds, bytesText(float64(f.Bytes-before.Bytes)/seconds),
		1000*f.MaxLagSeconds, f.Relists, f.Interruptions)
}

func bytesText(n float64) string {
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 1000 {
			return fmt.Sprintf("%.0f %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.1f GB", n)
}

// progress is what a terminal shows of lists that take longer than a second; "" if there are none.
func (s *stats) progress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == 0 || time.Since(s.since) < time.Second {
		return ""
	}
	text := fmt.Sprintf("listing: %d objects", s.received)
	if s.left > 0 {
		text += fmt.Sprintf(" of %d (%d %%)", s.received+s.left, 100*s.received/(s.received+s.left))
	}
	return text
}

// meter counts one stream.
type meter struct {
	*stats
	listing bool
	read    time.Time // when bytes came last
	busy    time.Time // since when they are worked on
}

// count adds to a trace what is counted.
func (m *meter) count(trace *lw.Trace) {
	trace.Read = func(n int) {
		m.read = time.Now()
		m.busy = m.read
		m.update(func() { m.f.Bytes += int64(n) })
	}
	trace.Frame = func(t lw.EventType, _ int) {
		if t == lw.Bookmark || t == lw.Synced {
			return
		}
		m.update(func() {
			if m.f.Objects++; m.listing {
				m.received++
			}
		})
	}
	trace.Page = func(meta lw.ListMeta) { m.update(func() { m.left = meta.RemainingItemCount }) }
}

// decoded notes that a change is known, and printed that so many events were printed.
func (m *meter) decoded() {
	m.update(func() { m.decode += time.Since(m.busy) })
}

func (m *meter) printed(events int) {
	m.busy = time.Now()
	lag := m.busy.Sub(m.read)
	m.update(func() {
		m.f.Events += int64(events)
		m.lag += lag * time.Duration(events)
		if events > 0 {
			m.f.MaxLagSeconds = max(m.f.MaxLagSeconds, lag.Seconds())
		}
	})
}

// lists notes whether a list arrives.
func (m *meter) lists(arrives bool) {
	if arrives == m.listing {
		return
	}
	m.listing = arrives
	m.update(func() {
		if !arrives {
			m.stats.lists--
			return
		}
		if m.stats.lists++; m.stats.lists == 1 {
			m.since, m.received, m.left = time.Now(), 0, 0
		}
	})
}
