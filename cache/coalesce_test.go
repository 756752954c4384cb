package cache

import (
	"strconv"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// testObject is the object type in these tests, which store all objects under one key. Every write stores a new
// testObject.
type testObject struct {
	uid, version int
	matches      bool
}

func (*testObject) GetNamespace() string         { return "" }
func (*testObject) GetName() string              { return "x" }
func (o *testObject) GetUID() string             { return strconv.Itoa(o.uid) }
func (o *testObject) GetResourceVersion() string { return strconv.Itoa(o.version) }

type (
	objectChange = Change[*testObject]
	queuedObject = queuedChange[*testObject]
)

// plainModel is the reference model of a queue. Unlike a queue, it keeps all changes and merges them only when the handler
// takes a change.
type plainModel struct {
	policy  Policy
	filter  bool        // the handler has a filter, which selects objects with matches
	known   *testObject // the stored object before the first queued change, or nil
	waiting []queuedObject
}

func (m *plainModel) matches(o *testObject) bool { return o != nil && (!m.filter || o.matches) }

// next returns the change that the queue must deliver next, before the filter is applied. n is the number of queued
// changes that are merged into it, or 0 if no change is left.
func (m *plainModel) next() (c queuedObject, n int) {
	if m.policy != Coalesce && len(m.waiting) > 0 {
		return m.waiting[0], 1
	}
	now := m.known
	for i, c := range m.waiting {
		if c.Type == lw.Deleted && m.known != nil {
			return queuedObject{objectChange{Type: lw.Deleted, Old: c.Old}, m.known}, i + 1
		}
		now = c.New
	}
	switch n = len(m.waiting); {
	case m.known == nil && now == nil:
		return c, 0
	case m.known == nil:
		return queuedObject{objectChange{Type: lw.Added, New: now}, nil}, n
	case n > 0:
		return queuedObject{objectChange{Type: lw.Modified, Old: m.known, New: now}, m.known}, n
	}
	return c, 0
}

// take removes the next change that passes the filter and returns it. It returns false if there is no such change.
func (m *plainModel) take() (objectChange, bool) {
	c, n := m.next()
	m.waiting = m.waiting[n:]
	if n == 0 {
		m.waiting = nil
		return c.Change, false
	}
	was, is := m.matches(c.stored), m.matches(c.New)
	m.known = c.New
	switch {
	case !was && !is:
		return m.take()
	case !was:
		return objectChange{Type: lw.Added, New: c.New}, true
	case !is:
		return objectChange{Type: lw.Deleted, Old: c.Old}, true
	}
	return c.Change, true
}

// sequence applies the changes of one object to a queue, and also to a model of that queue.
type sequence struct {
	t        *testing.T
	steps    string
	r        *Registration[*testObject]
	model    plainModel
	object   *testObject // the stored object, or nil
	reported *testObject // the last object that the handler received, or nil
	last     int         // version of the last write; also the UID of a newly added object
}

// write replaces the stored object and enqueues the change, like an informer.
func (l *sequence) write(kind lw.EventType, object *testObject) {
	c := queuedObject{objectChange{Type: kind, Old: l.object, New: object}, l.object}
	l.object = object
	if kind == lw.Deleted {
		c.Old = &testObject{uid: c.stored.uid, version: l.last, matches: c.stored.matches}
	}
	l.r.enqueue(c.Change, c.stored)
	l.model.waiting = append(l.model.waiting, c)
}

// step applies one operation. It returns false if the operation is impossible, for example an update of a missing
// object.
//
//   - '+' or 'p' adds the object.
//   - '~' or 'm' updates it.
//   - '-' deletes it.
//   - '*' or 'x' deletes it and adds it with another UID.
//   - '.' takes the next change.
//
// After 'p', 'm' and 'x', the object does not match the filter.
func (l *sequence) step(op byte) bool {
	l.last++
	object := &testObject{uid: l.last, version: l.last, matches: op == '+' || op == '~' || op == '*'}
	if op != '.' && (l.object == nil) != (op == '+' || op == 'p') {
		return false
	}
	switch op {
	case '.':
		l.take()
	case '+', 'p':
		l.write(lw.Added, object)
	case '~', 'm':
		object.uid = l.object.uid
		l.write(lw.Modified, object)
	case '-':
		l.write(lw.Deleted, nil)
	case '*', 'x':
		l.write(lw.Deleted, nil)
		l.write(lw.Added, object)
	}
	if l.model.policy == Coalesce {
		require.LessOrEqual(l.t, l.r.Len(), 2, l.steps)
	}
	return true
}

// take passes the next change to the handler. The change must equal the model's change and must be legal. take returns
// false if the queue is empty.
func (l *sequence) take() bool {
	var c objectChange
	ok := false
	for !ok {
		i, _ := l.r.queue.take(false)
		if i == nil {
			break
		}
		c, ok = l.r.filter(i.change)
	}
	want, wanted := l.model.take()
	require.Equal(l.t, wanted, ok, l.steps)
	if !ok {
		return false
	}
	require.Equal(l.t, []any{want.Type, want.Old, want.New}, []any{c.Type, c.Old, c.New}, l.steps)
	require.Equal(l.t, c.Type == lw.Added, l.reported == nil, l.steps)
	if c.Type == lw.Deleted {
		require.Equal(l.t, l.reported.uid, c.Old.uid, l.steps)
	}
	if c.Type == lw.Modified {
		require.Same(l.t, l.reported, c.Old, l.steps)
		require.Equal(l.t, l.reported.uid, c.New.uid, l.steps)
	}
	l.reported = c.New
	return true
}

// TestCoalesceSequences runs all sequences of up to five operations under every policy, with and without a filter. The
// handler must receive a legal sequence of changes that includes Deleted for every deleted object. After the last
// change, the handler and the store must agree.
func TestCoalesceSequences(t *testing.T) {
	for policy := range Unbounded + 1 {
		for _, filter := range []bool{false, true} {
			ops := "+~-*."
			if filter {
				ops = "+~-*.pmx"
			}
			runSequences(t, policy, filter, ops, "", 5)
		}
	}
}

// runSequences runs the operations in steps, followed by all sequences of at most depth operations from ops.
func runSequences(t *testing.T, policy Policy, filter bool, ops, steps string, depth int) {
	opts := &HandlerOptions[*testObject]{Policy: policy}
	if filter {
		opts.Filter = func(o *testObject) bool { return o.matches }
	}
	l := &sequence{t: t, steps: steps, model: plainModel{policy: policy, filter: filter}}
	l.r = newRegistration(NewInformer[*testObject](lw.ListerWatcher[*testObject](nil), nil), opts)
	for i := range len(steps) {
		if !l.step(steps[i]) {
			return
		}
	}
	for l.take() {
	}
	if filter && l.object != nil && !l.object.matches {
		l.object = nil
	}
	require.True(t, l.reported == l.object, "after the steps %s, the handler's state must match the store", steps)
	for i := 0; depth > 0 && i < len(ops); i++ {
		runSequences(t, policy, filter, ops, steps+string(ops[i]), depth-1)
	}
}
