package cache

import (
	"strconv"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// testObject is the value that is stored under the only key of these tests. Every write stores another testObject.
type testObject struct {
	uid, version int
	matches      bool
}

func (*testObject) GetNamespace() string         { return "" }
func (*testObject) GetName() string              { return "x" }
func (o *testObject) GetUID() string             { return strconv.Itoa(o.uid) }
func (o *testObject) GetResourceVersion() string { return strconv.Itoa(o.version) }

type (
	thingChange = Change[*testObject]
	thingQueued = queuedChange[*testObject]
)

// plainModel is the reference model of a queue. It keeps every change and merges changes only when the handler takes
// one.
type plainModel struct {
	policy  Policy
	filter  bool
	known   *testObject // the object before the queued changes, or nil
	waiting []thingQueued
}

func (m *plainModel) matches(o *testObject) bool { return o != nil && (!m.filter || o.matches) }

// next returns the next change, before the filter is applied, and the number n of queued changes that it merges. n is
// zero if the queue is empty.
func (m *plainModel) next() (c thingQueued, n int) {
	if m.policy != Coalesce && len(m.waiting) > 0 {
		return m.waiting[0], 1
	}
	now, changed := m.known, false
	for i, c := range m.waiting {
		changed = changed || !c.Resync
		if c.Type == Deleted && m.known != nil {
			return thingQueued{thingChange{Type: Deleted, Old: c.Old}, m.known}, i + 1
		}
		now = c.New
	}
	switch n = len(m.waiting); {
	case m.known == nil && now == nil:
		return c, 0
	case m.known == nil:
		return thingQueued{thingChange{Type: Added, New: now}, nil}, n
	case changed:
		return thingQueued{thingChange{Type: Modified, Old: m.known, New: now}, m.known}, n
	case n > 0:
		return thingQueued{thingChange{Type: Modified, Old: now, New: now, Resync: true}, now}, n
	}
	return c, 0
}

// take removes the next change from the model and returns it. It returns false if the handler receives no further
// change.
func (m *plainModel) take() (thingChange, bool) {
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
		return thingChange{Type: Added, New: c.New}, true
	case !is:
		return thingChange{Type: Deleted, Old: c.Old}, true
	}
	return c.Change, true
}

// sequence applies the changes of one object to a queue and to its model.
type sequence struct {
	t        *testing.T
	steps    string
	r        *Registration[*testObject]
	model    plainModel
	object   *testObject // the stored object, or nil
	reported *testObject // the last object that the handler received, or nil
	last     int         // the last version; a new object uses it as its UID
}

// write replaces the stored object and queues the change, like an informer.
func (l *sequence) write(kind ChangeType, object *testObject) {
	c := thingQueued{thingChange{Type: kind, Old: l.object, New: object}, l.object}
	l.object = object
	if kind == Deleted {
		c.Old = &testObject{uid: c.stored.uid, version: l.last, matches: c.stored.matches}
	}
	l.enqueue(c)
}

// enqueue adds a change to the queue and to the model.
func (l *sequence) enqueue(c thingQueued) {
	l.r.enqueue(c.Change, c.stored)
	l.model.waiting = append(l.model.waiting, c)
}

// step applies one operation. It returns false if the operation is not possible in the current state.
//
//   - '+' or 'p' adds the object.
//   - '~' or 'm' updates it.
//   - '-' deletes it.
//   - '*' or 'x' deletes it and adds it with another UID.
//   - 'r' is a resync.
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
		l.write(Added, object)
	case '~', 'm':
		object.uid = l.object.uid
		l.write(Modified, object)
	case '-':
		l.write(Deleted, nil)
	case '*', 'x':
		l.write(Deleted, nil)
		l.write(Added, object)
	case 'r':
		l.enqueue(thingQueued{thingChange{Type: Modified, Old: l.object, New: l.object, Resync: true}, l.object})
	}
	if l.model.policy == Coalesce {
		require.LessOrEqual(l.t, l.r.Len(), 2, l.steps)
	}
	return true
}

// take passes the next change to the handler. The change must equal the model's change and must be legal. take returns
// false if the queue is empty.
func (l *sequence) take() bool {
	var c thingChange
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
	require.Equal(l.t, []any{want.Type, want.Old, want.New, want.Resync}, []any{c.Type, c.Old, c.New, c.Resync}, l.steps)
	require.Equal(l.t, c.Type == Added, l.reported == nil, l.steps)
	if c.Type == Deleted {
		require.Equal(l.t, l.reported.uid, c.Old.uid, l.steps)
	}
	if c.Type == Modified {
		require.Same(l.t, l.reported, c.Old, l.steps)
		require.Equal(l.t, l.reported.uid, c.New.uid, l.steps)
	}
	l.reported = c.New
	return true
}

// TestCoalesceSequences runs all sequences of up to five operations under every policy, with and without a filter. The
// handler must receive a legal sequence of changes. The sequence must include Deleted for every deleted object and lead
// to the stored object.
func TestCoalesceSequences(t *testing.T) {
	for policy := range Unbounded + 1 {
		for _, filter := range []bool{false, true} {
			ops := "+~-*r."
			if filter {
				ops = "+~-*r.pmx"
			}
			runSequences(t, policy, filter, ops, "", 5)
		}
	}
}

// runSequences runs the operations in steps, followed by all sequences of at most "more" further operations.
func runSequences(t *testing.T, policy Policy, filter bool, ops, steps string, more int) {
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
	require.True(t, l.reported == l.object, "%s: the handler's state differs from the store", steps)
	for i := 0; more > 0 && i < len(ops); i++ {
		runSequences(t, policy, filter, ops, steps+string(ops[i]), more-1)
	}
}
