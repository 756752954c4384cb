package workqueue

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// model is a simple reference implementation of Queue for one goroutine.
type model struct {
	limiter  *rate.Limiter
	ready    []string
	working  map[string]bool
	dirty    map[string]bool
	failed   map[string]bool
	failures map[string]int
	delays   []delayed // sorted by due time; keys with the same due time keep the order of the calls
}

// delayed is a key with a pending delay.
type delayed struct {
	key string
	due time.Time
}

const (
	modelBase = 50 * time.Millisecond
	modelMax  = 700 * time.Millisecond
)

func modelLimiter() *rate.Limiter { return rate.NewLimiter(20, 3) }

func (m *model) add(key string) {
	switch {
	case m.working[key]:
		m.dirty[key] = true
	case !slices.Contains(m.ready, key):
		m.ready = append(m.ready, key)
	}
}

func (m *model) delay(key string, due time.Time) {
	if i := slices.IndexFunc(m.delays, func(d delayed) bool { return d.key == key }); i >= 0 {
		if !due.Before(m.delays[i].due) {
			return
		}
		m.delays = slices.Delete(m.delays, i, i+1)
	}
	at := slices.IndexFunc(m.delays, func(d delayed) bool { return d.due.After(due) })
	if at < 0 {
		at = len(m.delays)
	}
	m.delays = slices.Insert(m.delays, at, delayed{key, due})
}

func (m *model) pass() {
	for len(m.delays) > 0 && !m.delays[0].due.After(time.Now()) {
		d := m.delays[0]
		m.delays = m.delays[1:]
		m.add(d.key)
	}
}

func (m *model) retry(key string) {
	delay := modelBase
	for range m.failures[key] {
		delay = min(2*delay, modelMax)
	}
	m.failures[key]++
	m.delay(key, time.Now().Add(max(delay, m.limiter.Reserve().Delay())))
}

func (m *model) take() string {
	key := m.ready[0]
	m.ready = m.ready[1:]
	m.working[key] = true
	return key
}

func (m *model) done(key string) {
	if m.failed[key] {
		m.retry(key)
	} else {
		delete(m.failures, key)
	}
	delete(m.working, key)
	delete(m.failed, key)
	if m.dirty[key] {
		delete(m.dirty, key)
		m.add(key)
	}
}

// checker applies the same operations to a queue and its model, and compares the two after each operation.
type checker struct {
	*testing.T
	q      *Queue[string]
	m      *model
	bodies []body
}

func (g *checker) move(what, which byte) {
	key := string('a' + rune(which%8))
	span := time.Duration(which) * 7 * time.Millisecond
	switch what % 8 {
	case 0, 1:
		g.q.Add(key)
		g.m.add(key)
	case 2:
		g.q.AddAfter(key, span)
		if span > 0 {
			g.m.delay(key, time.Now().Add(span))
		} else {
			g.m.add(key)
		}
	case 3:
		g.q.Retry(key)
		if g.m.working[key] {
			g.m.failed[key] = true
		} else {
			g.m.retry(key)
		}
	case 4:
		time.Sleep(span)
		synctest.Wait()
		g.m.pass()
	case 5, 6:
		g.take()
	case 7:
		if len(g.bodies) > 0 {
			g.end(int(which) % len(g.bodies))
		}
	}
}

func (g *checker) take() {
	if len(g.m.ready) == 0 {
		return
	}
	b := begin(g.T, g.q)
	require.False(g, g.m.working[b.key], "two workers must not process the same key at the same time")
	require.Equal(g, g.m.take(), b.key)
	g.bodies = append(g.bodies, b)
}

func (g *checker) end(i int) {
	b := g.bodies[i]
	g.bodies = slices.Delete(g.bodies, i, i+1)
	b.end()
	g.m.done(b.key)
}

func (g *checker) compare() {
	require.Equal(g, len(g.m.ready), g.q.Len())
	require.Equal(g, len(g.m.working), g.q.active)
	require.Equal(g, len(g.m.delays), len(g.q.delayed))
	for i := range 8 {
		key := string('a' + rune(i))
		require.Equal(g, g.m.failures[key], g.q.Failures(key))
	}
}

func (g *checker) finish() {
	for len(g.bodies)+len(g.m.ready)+len(g.m.delays) > 0 {
		time.Sleep(time.Second)
		synctest.Wait()
		g.m.pass()
		g.take()
		for len(g.bodies) > 0 {
			g.end(0)
		}
		g.compare()
	}
	requireForgotten(g.T, g.q)
}

func play(t *testing.T, moves []byte) {
	synctest.Test(t, func(t *testing.T) {
		g := &checker{T: t, q: newQueue[string](modelBase, modelMax, modelLimiter()), m: &model{
			limiter: modelLimiter(), working: map[string]bool{}, dirty: map[string]bool{},
			failed: map[string]bool{}, failures: map[string]int{},
		}}
		for ; len(moves) > 1; moves = moves[2:] {
			g.move(moves[0], moves[1])
			g.compare()
		}
		g.finish()
	})
}

func TestModel(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	for range 300 {
		moves := make([]byte, 400)
		_, _ = random.Read(moves)
		play(t, moves)
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{0, 0, 5, 0, 0, 0, 3, 0, 7, 0, 4, 255})
	f.Fuzz(func(t *testing.T, moves []byte) { play(t, moves[:min(len(moves), 2000)]) })
}
