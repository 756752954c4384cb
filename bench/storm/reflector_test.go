package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// step is a response of a scripted server. If lasts is positive, the response's stream ends after that time with the
// error end.
type step struct {
	answer
	lasts time.Duration
	end   error
}

// scripted is a server that returns prepared responses and records the requests. Watches that are opened after the last
// step stay open.
type scripted struct {
	*clock
	steps []step
	asked []string
}

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

// requests returns the first n requests of a reflector that runs without jitter and latency.
func requests(n int, steps ...step) []string {
	s := &scripted{clock: newClock(0), steps: steps}
	s.play(0, func(p *player) {
		newReflector(&client{player: p, server: s}, func() float64 { return 0 }).run()
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

// status returns an error response. It has no Retry-After if wait is zero.
func status(code int, wait time.Duration) step {
	return step{answer: answer{err: &lw.StatusError{Code: code, RetryAfter: wait}}}
}

// watched returns a watch that sends a bookmark and ends with an error after the given time.
func watched(lasts time.Duration, end error) step {
	return step{answer{version: 6, text: "bookmark"}, lasts, end}
}

// empty returns a watch that closes cleanly after the given time without an event.
func empty(lasts time.Duration) step { return step{lasts: lasts, end: io.EOF} }

// opened is a streaming list whose watch closes cleanly after a minute.
var opened = watched(time.Minute, io.EOF)

// plain rejects a streaming list, so that the reflector falls back to an ordinary list.
var plain = status(422, 0)

func repeat(n int, one step) (all []step) {
	for range n {
		all = append(all, one)
	}
	return all
}

func TestReflectorFollowsClientGosRules(t *testing.T) {
	for _, rule := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"a streaming list continues as a watch", []step{opened},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6"}},
		{"a watch is replaced at once after a clean close", []step{opened, watched(time.Minute, io.EOF)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "2m0s: watch from 6"}},
		{"a watch is replaced at once after a connection error", []step{opened, watched(time.Minute, errReset)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "2m0s: watch from 6"}},
		{"a watch with an event is replaced at once even if it was short", []step{opened, watched(time.Millisecond, io.EOF)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.001s: watch from 6"}},
		{"an empty watch that lasts a second is replaced at once", []step{opened, empty(time.Second)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m1s: watch from 6"}},
		{"an empty watch that lasts less than a second is followed by a delay and a list", []step{opened, empty(999 * time.Millisecond)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m1.799s: streaming list from 6"}},
		{"a watch is retried with a delay when connections are refused", []step{opened, refused, refused},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.8s: watch from 6", "1m2.4s: watch from 6"}},
		{"a watch is retried with a delay after 429 without Retry-After", []step{opened, status(429, 0)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.8s: watch from 6"}},
		{"any other rejection of a watch is followed by a delay and a list", []step{opened, status(403, 0)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.8s: streaming list from 6"}},
		{"an expired watch is followed by a delay and a list from the last resourceVersion", []step{opened, expired},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.8s: streaming list from 6"}},
		{"an expired list is retried at once without a resourceVersion", []step{opened, expired, plain, status(410, 0), listed},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.8s: streaming list from 6", "1m0.8s: list from 6",
				"1m0.8s: list from 0", "1m0.8s: watch from 5"}},
		{"an expired streaming list is retried at once without a resourceVersion", []step{opened, expired, status(410, 0)},
			[]string{"0s: streaming list from 0", "1m0s: watch from 6", "1m0.8s: streaming list from 6", "1m0.8s: streaming list from 0"}},
		{"a rejected streaming list is followed by an ordinary list at once", []step{plain, listed},
			[]string{"0s: streaming list from 0", "0s: list from 0", "0s: watch from 5"}},
		{"a streaming list is retried with a delay when connections are refused", []step{refused},
			[]string{"0s: streaming list from 0", "800ms: streaming list from 0"}},
		{"a list is retried with a delay when connections are refused", []step{plain, refused},
			[]string{"0s: streaming list from 0", "0s: list from 0", "800ms: streaming list from 0"}},
		{"a Retry-After header overrides the delay", []step{plain, status(429, 5*time.Second), listed, status(503, 3*time.Second)},
			[]string{"0s: streaming list from 0", "0s: list from 0", "5s: list from 0", "5s: watch from 5", "8s: watch from 5"}},
		{"a request is retried one second after a connection error", []step{plain, broken, listed, broken},
			[]string{"0s: streaming list from 0", "0s: list from 0", "1s: list from 0", "1s: watch from 5", "2s: watch from 5"}},
	} {
		require.Equal(t, rule.want, requests(len(rule.want), rule.steps...), rule.name)
	}
}

func TestReflectorRetriesARequestTenTimes(t *testing.T) {
	rejected := requests(14, append([]step{plain, listed}, repeat(11, status(429, time.Second))...)...)
	require.Equal(t, "10s: watch from 5", rejected[12])
	require.Equal(t, "10.8s: watch from 5", rejected[13], "after the last retry, the reflector must wait for its backoff delay")
	reset := requests(14, append([]step{plain, listed}, repeat(11, broken)...)...)
	require.Equal(t, "10s: watch from 5", reset[13], "a watch request that fails must count as an empty watch")
	reset = requests(13, append([]step{plain}, repeat(11, broken)...)...)
	require.Equal(t, "10.8s: streaming list from 0", reset[12], "after the last retry, the list must fail")
}

func TestReflectorBackoffDoublesAndResets(t *testing.T) {
	b := reflectorBackoff{random: func() float64 { return 0.5 }, next: backoffFirst}
	for _, want := range []time.Duration{800, 1600, 3200, 6400, 12800, 25600, 30000, 30000} {
		require.Equal(t, want*3/2*time.Millisecond, b.delay(backoffReset), "up to two minutes after a reset, the delay must double up to 30 s")
	}
	require.Equal(t, backoffFirst*3/2, b.delay(backoffReset+1), "more than two minutes after a reset, the delay must start over")
	require.Equal(t, 2*backoffFirst*3/2, b.delay(2*backoffReset))
}
