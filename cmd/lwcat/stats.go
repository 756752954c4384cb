package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// metrics are the final statistics of --stats. Times are in seconds.
type metrics struct {
	Seconds        float64 `json:"seconds"`
	Events         int64   `json:"events"`  // number of printed events
	Objects        int64   `json:"objects"` // number of objects received in lists and watches
	Bytes          int64   `json:"bytes"`   // number of bytes received, after decompression
	Relists        int64   `json:"relists"`
	Interruptions  int64   `json:"interruptions"`
	DecodeSeconds  float64 `json:"decodeSeconds"`  // time spent to decode received bytes into changes
	MeanLagSeconds float64 `json:"meanLagSeconds"` // mean time from an event's bytes to its printed line
	MaxLagSeconds  float64 `json:"maxLagSeconds"`

	ChangesPerMinute map[string]float64 `json:"changesPerMinute"` // keyed by resource; the first list does not count
}

// stats collects the metrics of all streams.
type stats struct {
	mu         sync.Mutex
	started    time.Time
	metrics    metrics
	totalLag   time.Duration // sum of the lags of all printed events
	decodeTime time.Duration

	changes map[string]int64 // number of printed changes, keyed by resource
}

func newStats() *stats { return &stats{started: time.Now(), changes: map[string]int64{}} }

func (s *stats) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// snapshot returns the current metrics.
func (s *stats) snapshot() metrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.metrics
	f.Seconds = time.Since(s.started).Seconds()
	f.ChangesPerMinute = map[string]float64{}
	for resource, changes := range s.changes {
		f.ChangesPerMinute[resource] = 60 * float64(changes) / f.Seconds
	}
	f.DecodeSeconds = s.decodeTime.Seconds()
	if f.Events > 0 {
		f.MeanLagSeconds = s.totalLag.Seconds() / float64(f.Events)
	}
	return f
}

// json returns the metrics as one line of JSON.
func (f metrics) json() string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// rates describes the metrics and the rates since an earlier snapshot.
func (f metrics) rates(before metrics) string {
	seconds := f.Seconds - before.Seconds
	text := fmt.Sprintf("%s, %.0f/s, %s/s, max lag %.1f ms, %s, %s",
		quantity(f.Events, "event"), float64(f.Events-before.Events)/seconds, formatBytes(float64(f.Bytes-before.Bytes)/seconds),
		1000*f.MaxLagSeconds, quantity(f.Relists, "relist"), quantity(f.Interruptions, "interruption"))
	for _, resource := range slices.Sorted(maps.Keys(f.ChangesPerMinute)) {
		text += fmt.Sprintf(", %s %.1f/min", resource, f.ChangesPerMinute[resource])
	}
	return text
}

// quantity returns n and the singular or plural of noun.
func quantity(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func formatBytes(n float64) string {
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 1000 {
			return fmt.Sprintf("%.0f %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.1f GB", n)
}

// meter updates the metrics for the events of one stream.
type meter struct {
	*stats
	resource      string
	lastRead      time.Time // when the last bytes arrived
	decodeStarted time.Time // when decoding started
}

// addTo registers the meter's callbacks with a trace.
func (m *meter) addTo(trace *lw.Trace) {
	trace.Read = func(n int) {
		m.lastRead = time.Now()
		m.decodeStarted = m.lastRead
		m.update(func() { m.metrics.Bytes += int64(n) })
	}
	trace.Frame = func(t lw.EventType, _ int) {
		if t == lw.Bookmark || t == lw.Synced {
			return
		}
		m.update(func() { m.metrics.Objects++ })
	}
}

// decoded updates the total decode time after an event. Decoding starts when the event's bytes arrive or when the
// previous event is printed, whichever is later. Events without bytes, such as interruptions, do not count, because the
// stream was idle before them.
func (m *meter) decoded(t lw.EventType) {
	now := time.Now()
	switch t {
	case lw.Added, lw.Modified, lw.Deleted, lw.Bookmark, lw.Synced:
		m.update(func() { m.decodeTime += now.Sub(m.decodeStarted) })
	}
	m.decodeStarted = now
}

// printed counts printed events. If changes is true, they also count as changes.
func (m *meter) printed(events int, changes bool) {
	m.decodeStarted = time.Now()
	lag := m.decodeStarted.Sub(m.lastRead)
	changed := events
	if !changes {
		changed = 0 // adding zero makes snapshots include the resource
	}
	m.update(func() {
		m.metrics.Events += int64(events)
		m.changes[m.resource] += int64(changed)
		m.totalLag += lag * time.Duration(events)
		if events > 0 {
			m.metrics.MaxLagSeconds = max(m.metrics.MaxLagSeconds, lag.Seconds())
		}
	})
}
