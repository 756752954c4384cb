package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// step is one response of a scripted server. If lasts is positive, the stream ends with an error after that time.
type step struct {
	answer
	lasts time.Duration
	end   error
}

// scripted is a server that sends prepared responses and records the requests. After the last response it keeps streams
// open.
type scripted struct {
	*clock
	steps []step
	asked []string
}

func (s *scripted) version() int { return 7 }

func (s *scripted) receive(r *request) {
	kind := map[[2]bool]string{{true, true}: "streaming list", {true, false}: "watch", {false, true}: "list"}[[2]bool{r.watch, r.list}]
	s.asked = append(s.asked, fmt.Sprintf("%v: %s from %d", s.now, kind, r.version))
	next := step{answer: answer{version: 7, text: "bookmark"}}
	if len(s.steps) > 0 {
		next, s.steps = s.steps[0], s.steps[1:]
	}
	if next.err == nil && r.watch && next.stream == nil {
		opened := &stream{}
		next.stream = opened
		if next.lasts > 0 {
			s.after(next.lasts, func() { opened.end(next.end) })
		}
	}
	r.reply(next.answer)
}

// requests returns the first n requests of a reflector without jitter. The network has no latency.
func requests(n int, plain bool, steps ...step) []string {
	s := &scripted{clock: newClock(0), steps: steps}
	s.play(0, func(p *player) {
		newReflector(&client{player: p, server: s}, func() float64 { return 0 }, plain).run()
	})
	s.run(time.Hour)
	return s.asked[:min(n, len(s.asked))]
}

var (
	listed  = step{answer: answer{version: 5}}
	broken  = step{answer: answer{err: errReset}}
	refused = step{answer: answer{err: errRefused}}
	expired = step{answer: answer{expired: true}}
)

// status returns an error response. A wait of zero omits Retry-After.
func status(code int, wait time.Duration) step {
	return step{answer: answer{err: &lw.StatusError{Code: code, RetryAfter: wait}}}
}

// watched returns a watch with a bookmark that ends after a while.
func watched(lasts time.Duration, end error) step {
	return step{answer{version: 6, text: "bookmark"}, lasts, end}
}

// empty returns a watch without an event.
func empty(lasts time.Duration) step { return step{lasts: lasts, end: io.EOF} }

func repeat(n int, one step) (all []step) {
	for range n {
		all = append(all, one)
	}
	return all
}

func TestReflectorRules(t *testing.T) {
	for _, rule := range []struct {
		name  string
		plain bool
		steps []step
		want  []string
	}{
		{"a streaming list becomes the watch", false, []step{watched(time.Minute, io.EOF)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6"}},
		{"an ordinary list precedes the watch without streaming lists", true, []step{listed},
			[]string{"0s: list from 0", "0s: watch from 5"}},
		{"a watch is replaced at once after a clean close", true, []step{listed, watched(time.Minute, io.EOF)},
			[]string{"0s: list from 0", "0s: watch from 5", "1m0s: watch from 6"}},
		{"a watch is replaced at once after a connection error", true, []step{listed, watched(time.Minute, errReset)},
			[]string{"0s: list from 0", "0s: watch from 5", "1m0s: watch from 6"}},
		{"a watch with an event is replaced at once even if it was short", true, []step{listed, watched(time.Millisecond, io.EOF)},
			[]string{"0s: list from 0", "0s: watch from 5", "1ms: watch from 6"}},
		{"an empty watch of a second is replaced at once", true, []step{listed, empty(time.Second)},
			[]string{"0s: list from 0", "0s: watch from 5", "1s: watch from 5"}},
		{"a shorter empty watch is followed by a delay and a list", true, []step{listed, empty(999 * time.Millisecond)},
			[]string{"0s: list from 0", "0s: watch from 5", "1.799s: list from 5"}},
		{"a watch is retried with a delay when connections are refused", true, []step{listed, refused, refused},
			[]string{"0s: list from 0", "0s: watch from 5", "800ms: watch from 5", "2.4s: watch from 5"}},
		{"a watch is retried with a delay after 429 without Retry-After", true, []step{listed, status(429, 0)},
			[]string{"0s: list from 0", "0s: watch from 5", "800ms: watch from 5"}},
		{"another rejection of a watch is followed by a delay and a list", true, []step{listed, status(403, 0)},
			[]string{"0s: list from 0", "0s: watch from 5", "800ms: list from 5"}},
		{"an expired watch is followed by a delay and a list from the last version", true, []step{listed, expired},
			[]string{"0s: list from 0", "0s: watch from 5", "800ms: list from 5"}},
		{"an expired list is retried at once from any version", true, []step{listed, expired, status(410, 0), listed},
			[]string{"0s: list from 0", "0s: watch from 5", "800ms: list from 5", "800ms: list from 0", "800ms: watch from 5"}},
		{"an expired streaming list is retried at once from any version", false,
			[]step{watched(time.Minute, io.EOF), expired, status(410, 0)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.8s: streaming list from 6", "1m0.8s: streaming list from 0"}},
		{"a rejected streaming list falls back to an ordinary one at once", false, []step{status(422, 0), listed},
			[]string{"0s: streaming list from 0", "0s: list from 0", "0s: watch from 5"}},
		{"a streaming list is retried with a delay when connections are refused", false, []step{refused},
			[]string{"0s: streaming list from 0", "800ms: streaming list from 0"}},
		{"a list is retried with a delay when connections are refused", true, []step{refused},
			[]string{"0s: list from 0", "800ms: list from 0"}},
		{"Retry-After replaces the delay exactly", true, []step{status(429, 5*time.Second), listed, status(503, 3*time.Second)},
			[]string{"0s: list from 0", "5s: list from 0", "5s: watch from 5", "8s: watch from 5"}},
		{"a connection error of a request is retried after a second", true, []step{broken, listed, broken},
			[]string{"0s: list from 0", "1s: list from 0", "1s: watch from 5", "2s: watch from 5"}},
	} {
		require.Equal(t, rule.want, requests(len(rule.want), rule.plain, rule.steps...), rule.name)
	}
}

func TestReflectorRetriesARequestTenTimes(t *testing.T) {
	rejected := requests(12, true, append([]step{listed}, repeat(11, status(429, time.Second))...)...)
	require.Equal(t, "10s: watch from 5", rejected[11])
	rejected = requests(13, true, append([]step{listed}, repeat(11, status(429, time.Second))...)...)
	require.Equal(t, "10.8s: watch from 5", rejected[12], "the reflector's delay follows the last retry")
	reset := requests(13, true, append([]step{listed}, repeat(11, broken)...)...)
	require.Equal(t, "10s: watch from 5", reset[12], "a watch that cannot connect counts as an empty watch")
	reset = requests(12, true, repeat(11, broken)...)
	require.Equal(t, "10.8s: list from 0", reset[11], "a list that cannot connect fails")
}

func TestReflectorBackoff(t *testing.T) {
	b := reflectorBackoff{random: func() float64 { return 0.5 }, next: backoffFirst}
	for _, want := range []time.Duration{800, 1600, 3200, 6400, 12800, 25600, 30000, 30000} {
		require.Equal(t, want*3/2*time.Millisecond, b.delay(backoffReset), "within two minutes it doubles up to 30 s")
	}
	require.Equal(t, backoffFirst*3/2, b.delay(backoffReset+1), "every two minutes it starts again")
	require.Equal(t, 2*backoffFirst*3/2, b.delay(2*backoffReset))
}
