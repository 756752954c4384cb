package lw

import (
	"io"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHealthyWatchResumesAtOnce after any end that is not the server's answer.
func TestHealthyWatchResumesAtOnce(t *testing.T) {
	ends := map[string]func(*machineHarness) *Interruption{
		"connection error": func(r *machineHarness) *Interruption { return r.fails(errReset) },
		"body cut short":   func(r *machineHarness) *Interruption { return r.fails(&MalformedError{Err: io.ErrUnexpectedEOF}) },
		"idle timeout":     func(r *machineHarness) *Interruption { return r.fails(ErrSilent) },
		"clean close":      func(r *machineHarness) *Interruption { return r.closes() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := newMachineHarness(t, Options{}).synced("7").opens()
			r.brings("8")
			result := end(r)
			require.Zero(t, result.Delay, "it brought news")
			require.False(t, result.Relist)
			r.opens().pass(healthyAfter)
			require.Zero(t, end(r).Delay, "it lived for a second")
			r.opens().pass(healthyAfter - 1)
			require.Equal(t, firstDelay, end(r).Delay)
		})
	}
}

// TestResumeIsSpread over 0.5 % of the watch's life, at most a second, so that clients that are cut off together come back
// apart.
func TestResumeIsSpread(t *testing.T) {
	for life, most := range map[time.Duration]time.Duration{
		time.Second: 5 * time.Millisecond, 20 * time.Second: 100 * time.Millisecond, 4 * time.Minute: time.Second,
	} {
		r := newMachineHarness(t, Options{}).synced("7").opens()
		r.bookmarks("8")
		r.fails(errReset)
		r.opens().pass(life)
		r.random = func() float64 { return 0.5 }
		require.Equal(t, most/2, r.fails(errReset).Delay, "%v", life)
	}
}

// TestWatchThatTimedOutIsNotSpread: timeouts are random, so it ended alone.
func TestWatchThatTimedOutIsNotSpread(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	r.pass(shortTimeout)
	r.random = func() float64 { return 0.5 }
	require.Equal(t, &Interruption{Err: ErrWatchClosed}, r.closes())
	r.opens().pass(4 * shortTimeout)
	require.Equal(t, 500*time.Millisecond, r.closes().Delay, "the server ignores timeouts")
}

// TestEndOfAWatch: whether the stream resumes or relists when a watch fails at once, and when it fails again.
func TestEndOfAWatch(t *testing.T) {
	const first, second = firstDelay, 2 * firstDelay
	retryAfter := func(code int, asked time.Duration) error {
		return &StatusError{Status: Status{Code: code}, RetryAfter: asked}
	}
	cases := []struct {
		name          string
		err           error
		once, twice   bool // whether a relist follows
		delay, delay2 time.Duration
	}{
		{"ERROR event or HTTP 410", status(410), true, true, 0, first},
		{"connection reset", errReset, false, false, first, second},
		{"body cut short", &MalformedError{Err: io.ErrUnexpectedEOF}, false, false, first, second},
		{"429", status(429), false, false, first, second},
		{"429 with Retry-After", retryAfter(429, 7*time.Second), false, false, 7 * time.Second, 7 * time.Second},
		{"503 with Retry-After", retryAfter(503, 7*time.Second), false, false, 7 * time.Second, 7 * time.Second},
		{"502", status(502), false, false, first, second},
		{"503", status(503), false, false, first, second},
		{"504", status(504), false, false, first, second},
		{"HTML", &MalformedError{html: true}, false, false, first, second},
		{"500, as for a resourceVersion that does not parse", status(500), false, true, first, second},
		{"400", status(400), false, true, first, second},
		{"401", status(401), false, false, first, second},
		{"403", status(403), false, false, first, second},
		{"404", status(404), true, true, first, second},
		{"garbage", &MalformedError{Expected: "x"}, false, true, first, second},
		{"frame too large", &FrameTooLargeError{}, false, true, first, second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newMachineHarness(t, Options{}).synced("7")
			require.Equal(t, &Interruption{Err: c.err, Relist: c.once, Delay: c.delay}, r.watchFails(c.err))
			if c.once {
				r.synced("7")
			}
			require.Equal(t, &Interruption{Err: c.err, Relist: c.twice, Delay: c.delay2}, r.watchFails(c.err))
		})
	}
}

// TestGatewayErrorsNeverRelist: a list would not help, and it is the most expensive request.
func TestGatewayErrorsNeverRelist(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	for range 20 {
		for _, code := range []int{502, 503, 504, 429} {
			require.False(t, r.watchFails(status(code)).Relist)
		}
	}
}

// TestAnswerAfterNewsIsNoConnectionFault: the watch was healthy, but the server had a reason to end it.
func TestAnswerAfterNewsIsNoConnectionFault(t *testing.T) {
	for _, err := range []error{status(500), status(503), status(429), &MalformedError{Expected: "x"}, &MalformedError{html: true}} {
		r := newMachineHarness(t, Options{}).synced("7").opens()
		r.brings("8")
		require.Equal(t, firstDelay, r.fails(err).Delay, "%v", err)
	}
}

// TestProgressForgivesFaults: an event in between shows that the resourceVersion is good.
func TestProgressForgivesFaults(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	for _, version := range []string{"8", "9", "10", "11", "12"} {
		r.opens().brings(version)
		require.False(t, r.fails(status(500)).Relist)
	}
	require.Equal(t, "12", r.watchOptions().ResourceVersion)
}

// TestCompleteListForgivesFaults: the next failure is the first one again.
func TestCompleteListForgivesFaults(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	r.watchFails(status(500))
	require.True(t, r.watchFails(status(500)).Relist)
	r.synced("8")
	require.False(t, r.watchFails(status(500)).Relist)
}

// TestEventWithoutVersionKeepsTheLastOne, from which a resume is safe.
func TestEventWithoutVersionKeepsTheLastOne(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	require.Nil(t, r.brings(""))
	require.Nil(t, r.bookmarks("0"))
	require.Equal(t, "7", r.watchOptions().ResourceVersion)
}

// TestThreeInstantCloses mean that the resourceVersion expired: some servers and proxies say so this way.
func TestThreeInstantCloses(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: firstDelay}, r.opens().closes())
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: 2 * firstDelay}, r.opens().closes())
	require.Equal(t, &Interruption{Err: ErrExpired, Relist: true}, r.opens().closes())
	r.synced("7")
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: 4 * firstDelay}, r.opens().closes(), "three more")
}

// TestInstantClosesCountInARow: a healthy watch or a failure in between shows that the resourceVersion is good, or nothing.
func TestInstantClosesCountInARow(t *testing.T) {
	between := map[string]func(*machineHarness){
		"a healthy watch": func(r *machineHarness) { r.opens().pass(healthyAfter); r.closes() },
		"a failure":       func(r *machineHarness) { r.watchFails(errReset) },
	}
	for name, end := range between {
		t.Run(name, func(t *testing.T) {
			r := newMachineHarness(t, Options{}).synced("7")
			r.opens().closes()
			r.opens().closes()
			end(r)
			require.Equal(t, ErrWatchClosed, r.opens().closes().Err)
			require.Equal(t, ErrWatchClosed, r.opens().closes().Err)
			require.Equal(t, ErrExpired, r.opens().closes().Err)
		})
	}
}

// TestRepeatedBookmarkIsNoNews: a watch that ends at once behind it is not healthy.
func TestRepeatedBookmarkIsNoNews(t *testing.T) {
	for _, version := range []string{"7", "", "0"} {
		r := newMachineHarness(t, Options{}).synced("7").opens()
		r.bookmarks(version)
		require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: firstDelay}, r.closes())
	}
}

// TestSourceThatNeverSaysLive is paced like any other: a watch that never opened has not lived.
func TestSourceThatNeverSaysLive(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").rest()
	r.ask()
	r.brings("8")
	require.Equal(t, &Interruption{Err: ErrWatchClosed}, r.closes())
	r.ask()
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: firstDelay}, r.closes())
}

// TestExpiredAgainAndAgain: the first relist goes at once. Further ones wait, although each watch brings an event first.
func TestExpiredAgainAndAgain(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	for i, version := range []string{"8", "9", "10"} {
		r.opens().brings(version)
		want := &Interruption{Err: status(410), Relist: true, Delay: []time.Duration{0, firstDelay, 2 * firstDelay}[i]}
		require.Equal(t, want, r.fails(status(410)))
		r.synced(version)
	}
	r.opens().brings("11")
	r.fails(errReset)
	r.opens().brings("12")
	require.Zero(t, r.rest().fails(status(410)).Delay, "a watch has ended well in between")
}

// TestAtMostFourListsAMinute, whatever the server does.
func TestAtMostFourListsAMinute(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	begun := []moment{r.now}
	for n := range 100 {
		r.opens().brings(strconv.Itoa(2*n + 8))
		r.fails(errReset) // resets the backoff
		r.opens().brings(strconv.Itoa(2*n + 9))
		r.pass(2 * time.Second)
		r.pass(r.fails(status(410)).Delay)
		begun = append(begun, r.now)
		r.synced(strconv.Itoa(2*n + 9))
	}
	for i := maxLists; i < len(begun); i++ {
		require.GreaterOrEqual(t, begun[i]-begun[i-maxLists], listWindow)
	}
}

// TestFailedListCountsWhenItBroughtObjects: it cost the server as much.
func TestFailedListCountsWhenItBroughtObjects(t *testing.T) {
	r := newMachineHarness(t, Options{})
	for range maxLists - 1 {
		r.ask()
		r.do(input{signal: failed, err: errReset, objects: 5})
	}
	require.Equal(t, 8*firstDelay, r.listFails(errReset).Delay)
	r.ask()
	require.Equal(t, listWindow, r.do(input{signal: failed, err: errReset, objects: 5}).Delay)
}

// TestRequestBudget: ten requests at once and one a second, when every watch brings news and closes.
func TestRequestBudget(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	began, requests := r.now, 2
	for n := 8; r.now-began < time.Minute; n++ {
		r.opens().brings(strconv.Itoa(n))
		result := r.closes()
		require.False(t, result.Relist)
		r.pass(result.Delay)
		requests++
	}
	require.InDelta(t, requestBurst+60, requests, 2)
}

func TestBackoffDoublesUpToAMaximum(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	var delays []time.Duration
	for range 8 {
		delays = append(delays, r.rest().watchFails(errReset).Delay)
	}
	require.Equal(t, []time.Duration{800e6, 1600e6, 3200e6, 6400e6, 12800e6, 25600e6, 30e9, 30e9}, delays)
	r.random = func() float64 { return 0.5 }
	require.Equal(t, 45*time.Second, r.watchFails(errReset).Delay, "jitter adds up to as much again")
}

// TestHealthyWatchResetsTheBackoff, if it ends well or lives for two minutes.
func TestHealthyWatchResetsTheBackoff(t *testing.T) {
	failing := func() *machineHarness {
		r := newMachineHarness(t, Options{}).synced("7")
		r.watchFails(errReset)
		r.watchFails(errReset)
		return r.opens()
	}
	r := failing()
	r.brings("8")
	r.closes()
	require.Equal(t, firstDelay, r.watchFails(errReset).Delay)

	r = failing()
	r.brings("8")
	require.Equal(t, 4*firstDelay, r.fails(status(500)).Delay, "it ended badly")

	r = failing()
	r.pass(provenAfter)
	require.Equal(t, firstDelay, r.fails(status(500)).Delay)
}

// TestRetryAfterIsJittered: all clients are told the same delay, so a random part is added.
func TestRetryAfterIsJittered(t *testing.T) {
	overloaded := &StatusError{Status: Status{Code: 429}, RetryAfter: 5 * time.Second}
	r := newMachineHarness(t, Options{}).synced("7")
	r.random = func() float64 { return 0.5 }
	require.Equal(t, 5250*time.Millisecond, r.watchFails(overloaded).Delay)

	r = newMachineHarness(t, Options{})
	r.random = func() float64 { return 0.5 }
	late := *tooLarge
	late.RetryAfter = time.Second
	require.Equal(t, 1050*time.Millisecond, r.listFails(&late).Delay, "a remedy is not at once if the server asks to wait")
}

// TestRetryAfterGrowsInTheEnd: a server that asks to wait for ten times in a row does not know when it will be ready.
func TestRetryAfterGrowsInTheEnd(t *testing.T) {
	overloaded := &StatusError{Status: Status{Code: 429}, RetryAfter: time.Second}
	r := newMachineHarness(t, Options{}).synced("7")
	wait := func() time.Duration {
		r.pass(10 * time.Second) // fills the request budget
		return r.watchFails(overloaded).Delay
	}
	for range maxHonored {
		require.Equal(t, time.Second, wait())
	}
	for _, want := range []time.Duration{time.Second, 2 * firstDelay, 4 * firstDelay} {
		require.Equal(t, want, wait())
	}
	r.opens().brings("8")
	r.closes()
	require.Equal(t, time.Second, wait(), "a healthy watch resets it")
}

// TestRetryAfterIsCapped: a server that asks for a day is asked again after five minutes.
func TestRetryAfterIsCapped(t *testing.T) {
	for _, asked := range []time.Duration{24 * time.Hour, math.MaxInt64} {
		r := newMachineHarness(t, Options{}).synced("7")
		require.Equal(t, 5*time.Minute, r.watchFails(&StatusError{Status: Status{Code: 429}, RetryAfter: asked}).Delay)
	}
}

// TestTimeWithoutAWatchIsNotHealth: a dial that fails slowly proves nothing.
func TestTimeWithoutAWatchIsNotHealth(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	r.watchFails(errReset)
	r.ask()
	r.pass(time.Hour)
	require.Equal(t, 2*firstDelay, r.fails(errReset).Delay)
}
