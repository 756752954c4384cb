// Package revlog is the storage of a Kubernetes-like API server without the server: a log of revisions in the manner of
// etcd. It knows no HTTP, no clock and no goroutine, so a simulation can drive it step by step.
//
// Every write, whatever its collection, takes the next revision of one counter. Each collection keeps its live entries and
// the events that led to them; the state at an older revision is found by undoing events, and a [Cursor] reads the events
// that follow a revision. [Log.Compact] drops history: what it dropped is gone for good, and asking for it gives
// [ErrCompacted].
package revlog

import (
	"errors"
	"slices"
	"sort"
	"strings"
)

// Errors of the package's methods, returned as they are.
var (
	ErrExists    = errors.New("revlog: the key exists")
	ErrNotFound  = errors.New("revlog: no such key")
	ErrConflict  = errors.New("revlog: the entry has another revision than the one expected")
	ErrCompacted = errors.New("revlog: the revision has been compacted")
	ErrFuture    = errors.New("revlog: the revision has not been reached")
)

// Entry is a value and the revision that wrote it.
type Entry[V any] struct {
	Key      string
	Revision int64
	Value    V
}

// Type says what an event did to its key.
type Type int

// The types of events.
const (
	Created Type = iota
	Updated
	Deleted
)

// Event is one write. Entry is what it left behind; for a deletion, the last value given to [Log.Delete]. Prev is the entry
// before it and is zero for a creation.
type Event[V any] struct {
	Type  Type
	Entry Entry[V]
	Prev  Entry[V]
}

// Log holds collections of entries and their history. It is not safe for concurrent use: whoever shares it locks it. Values
// are handed out as they were put in, so they must not be changed afterwards.
type Log[V any] struct {
	revision    int64
	compacted   int64
	collections map[string]*collection[V]
}

type collection[V any] struct {
	keys    []string // of live, sorted
	live    map[string]Entry[V]
	events  []Event[V] // by ascending revision
	dropped int64      // revision of the newest event lost to compaction
}

// New returns an empty log at revision 1, the revision of an empty etcd.
func New[V any]() *Log[V] {
	return &Log[V]{revision: 1, collections: map[string]*collection[V]{}}
}

// Revision is the revision of the latest write. The next write takes the number after it, so a caller may put that number
// into the value.
func (l *Log[V]) Revision() int64 { return l.revision }

// Compacted is the oldest revision that can still be read; 0 if all can.
func (l *Log[V]) Compacted() int64 { return l.compacted }

// Get returns the live entry of a key.
func (l *Log[V]) Get(name, key string) (Entry[V], bool) {
	e, ok := l.collection(name).live[key]
	return e, ok
}

// Create adds a key. It returns [ErrExists] if the key is there already.
func (l *Log[V]) Create(name, key string, value V) (Entry[V], error) {
	c := l.collection(name)
	if _, ok := c.live[key]; ok {
		return Entry[V]{}, ErrExists
	}
	return l.write(c, Event[V]{Type: Created, Entry: Entry[V]{Key: key, Value: value}}), nil
}

// CreateAll adds keys in the order of the entries, whose revisions do not count, as Create does one by one: but as the keys
// are sorted only once, it is for very many of them. It returns [ErrExists] if one of the keys is there already, or twice
// among the entries; then nothing is written.
func (l *Log[V]) CreateAll(name string, entries []Entry[V]) error {
	c := l.collection(name)
	keys := slices.Clone(c.keys)
	for _, e := range entries {
		keys = append(keys, e.Key)
	}
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			return ErrExists
		}
	}
	for _, e := range entries {
		l.revision++
		e.Revision = l.revision
		c.live[e.Key] = e
		c.events = append(c.events, Event[V]{Type: Created, Entry: e})
	}
	c.keys = keys
	return nil
}

// Update replaces the value of a key. If expect is not zero, the entry must have that revision, else Update returns
// [ErrConflict]. A missing key is [ErrNotFound].
func (l *Log[V]) Update(name, key string, expect int64, value V) (Entry[V], error) {
	c := l.collection(name)
	prev, err := c.expect(key, expect)
	if err != nil {
		return Entry[V]{}, err
	}
	return l.write(c, Event[V]{Type: Updated, Entry: Entry[V]{Key: key, Value: value}, Prev: prev}), nil
}

// Delete removes a key; its event carries last, the value as the deletion leaves it. Expect and the errors are those of
// [Log.Update].
func (l *Log[V]) Delete(name, key string, expect int64, last V) (Entry[V], error) {
	c := l.collection(name)
	prev, err := c.expect(key, expect)
	if err != nil {
		return Entry[V]{}, err
	}
	return l.write(c, Event[V]{Type: Deleted, Entry: Entry[V]{Key: key, Value: last}, Prev: prev}), nil
}

// At returns the entries of a collection whose keys begin with prefix as they were at a revision, in key order. It returns
// [ErrCompacted] or [ErrFuture] if that state is not to be had.
func (l *Log[V]) At(name, prefix string, revision int64) ([]Entry[V], error) {
	switch {
	case revision < l.compacted:
		return nil, ErrCompacted
	case revision > l.revision:
		return nil, ErrFuture
	}
	c := l.collection(name)
	before := c.before(prefix, revision)
	var entries []Entry[V]
	first, _ := slices.BinarySearch(c.keys, prefix)
	for _, key := range c.keys[first:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		if _, changed := before[key]; !changed {
			entries = append(entries, c.live[key])
		}
	}
	if len(before) == 0 {
		return entries, nil
	}
	for _, event := range before {
		if event.Type != Created {
			entries = append(entries, event.Prev)
		}
	}
	slices.SortFunc(entries, func(a, b Entry[V]) int { return strings.Compare(a.Key, b.Key) })
	return entries, nil
}

// Advance moves the log to a revision without a write, so that the next write takes the number after it. Going back does
// nothing.
func (l *Log[V]) Advance(revision int64) { l.revision = max(l.revision, revision) }

// Compact drops the history below a revision, which itself stays readable. A revision that lies in the future means the
// present one; going back does nothing.
func (l *Log[V]) Compact(revision int64) {
	revision = min(revision, l.revision)
	if revision <= l.compacted {
		return
	}
	l.compacted = revision
	for _, c := range l.collections {
		n := c.after(revision)
		if n == 0 {
			continue
		}
		c.dropped = c.events[n-1].Entry.Revision
		clear(c.events[:n]) // the array outlives the slice: let the values go
		c.events = c.events[n:]
	}
}

func (l *Log[V]) collection(name string) *collection[V] {
	c := l.collections[name]
	if c == nil {
		c = &collection[V]{live: map[string]Entry[V]{}}
		l.collections[name] = c
	}
	return c
}

func (l *Log[V]) write(c *collection[V], event Event[V]) Entry[V] {
	l.revision++
	event.Entry.Revision = l.revision
	key := event.Entry.Key
	i, _ := slices.BinarySearch(c.keys, key)
	switch event.Type {
	case Created:
		c.keys = slices.Insert(c.keys, i, key)
		c.live[key] = event.Entry
	case Updated:
		c.live[key] = event.Entry
	case Deleted:
		c.keys = slices.Delete(c.keys, i, i+1)
		delete(c.live, key)
	}
	c.events = append(c.events, event)
	return event.Entry
}

func (c *collection[V]) expect(key string, revision int64) (Entry[V], error) {
	e, ok := c.live[key]
	if !ok {
		return e, ErrNotFound
	}
	if revision != 0 && revision != e.Revision {
		return e, ErrConflict
	}
	return e, nil
}

// after is the index of the first event newer than a revision.
func (c *collection[V]) after(revision int64) int {
	return sort.Search(len(c.events), func(i int) bool { return c.events[i].Entry.Revision > revision })
}

// before maps the keys written since a revision to the first such event, whose Prev is what the key held at that revision.
func (c *collection[V]) before(prefix string, revision int64) map[string]Event[V] {
	first := map[string]Event[V]{}
	for _, event := range slices.Backward(c.events[c.after(revision):]) {
		if strings.HasPrefix(event.Entry.Key, prefix) {
			first[event.Entry.Key] = event
		}
	}
	return first
}
