package lw

import (
	"io"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

func TestHealthyWatchResumesAtOnce(t *testing.T) {
	ends := map[string]func(*machineHarness) *Interruption{
		"connection error": func(r *machineHarness) *Interruption { return r.fails(errReset) },
		"truncated body":   func(r *machineHarness) *Interruption { return r.fails(&jsonscan.SyntaxError{Err: io.ErrUnexpectedEOF}) },
		"idle timeout":     func(r *machineHarness) *Interruption { return r.fails(ErrSilent) },
		"clean close":      func(r *machineHarness) *Interruption { return r.closes() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := newMachineHarness(t, Options{}).synced("7").opens()
			r.receives("8")
			result := end(r)
			require.Zero(t, result.Delay, "a watch that received an event must resume without a delay")
			require.False(t, result.Relist)
			r.opens().pass(healthyAfter)
			require.Zero(t, end(r).Delay, "a watch that lasted a second must resume without a delay")
			r.opens().pass(healthyAfter - 1)
			require.Equal(t, firstDelay, end(r).Delay)
		})
	}
}

// The jitter is 0.5 % of the time that the watch was open, at most maxSpread. It makes clients that lost their
// connections at the same time reconnect at different times.
func TestResumeHasJitter(t *testing.T) {
	require.Less(t, maxSpread, firstDelay, "a page takes a delay of firstDelay or more for a failure")
	for life, most := range map[time.Duration]time.Duration{
		time.Second: 5 * time.Millisecond, 20 * time.Second: 100 * time.Millisecond, 4 * time.Minute: maxSpread,
	} {
		r := newMachineHarness(t, Options{}).synced("7").opens()
		r.bookmarks("8")
		r.fails(errReset)
		r.opens().pass(life)
		r.policy.random = func() float64 { return 0.5 }
		require.Equal(t, most/2, r.fails(errReset).Delay, "%v", life)
	}
}

// A watch that reaches its own timeout must resume at once. Each client requests a random timeout, so clients already
// reconnect at different times.
func TestTimedOutWatchResumesWithoutJitter(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	r.pass(shortTimeout)
	r.policy.random = func() float64 { return 0.5 }
	require.Equal(t, &Interruption{Err: ErrWatchClosed}, r.closes())
	r.opens().pass(4 * shortTimeout)
	require.Equal(t, maxSpread/2, r.closes().Delay, "a watch that outlasts its timeout must resume with jitter")
}

func TestWatchFailures(t *testing.T) {
	const first, second = firstDelay, 2 * firstDelay
	retryAfter := func(code int, delay time.Duration) error {
		return &StatusError{Code: code, RetryAfter: delay}
	}
	cases := []struct {
		name          string
		err           error
		once, twice   bool // whether the stream relists after one failure and after two failures
		delay, delay2 time.Duration
	}{
		{"ERROR event or HTTP 410", status(410), true, true, 0, first},
		{"connection reset", errReset, false, false, first, second},
		{"truncated body", &jsonscan.SyntaxError{Err: io.ErrUnexpectedEOF}, false, false, first, second},
		{"429", status(429), false, false, first, second},
		{"429 with Retry-After", retryAfter(429, 7*time.Second), false, false, 7 * time.Second, 7 * time.Second},
		{"503 with Retry-After", retryAfter(503, 7*time.Second), false, false, 7 * time.Second, 7 * time.Second},
		{"502", status(502), false, false, first, second},
		{"503", status(503), false, false, first, second},
		{"504", status(504), false, false, first, second},
		{"HTML", &jsonscan.SyntaxError{Found: jsonscan.HTML}, false, false, first, second},
		{"500 for an invalid resourceVersion", status(500), false, true, first, second},
		{"400", status(400), false, true, first, second},
		{"401", status(401), false, false, first, second},
		{"403", status(403), false, false, first, second},
		{"404", status(404), true, true, first, second},
		{"garbage", &jsonscan.SyntaxError{Expected: "x"}, false, true, first, second},
		{"frame too large", jsonscan.TooLarge(0, 1), false, true, first, second},
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

// A gateway error must not cause a relist, because a relist does not help and is the most expensive request.
func TestGatewayErrorsNeverRelist(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	for range 20 {
		for _, code := range []int{502, 503, 504, 429} {
			require.False(t, r.watchFails(status(code)).Relist)
		}
	}
}

// The server may have ended a healthy watch because it is overloaded, so the next request must be delayed.
func TestErrorResponseAfterEventIsDelayed(t *testing.T) {
	for _, err := range []error{status(500), status(503), status(429), &jsonscan.SyntaxError{Expected: "x"}, &jsonscan.SyntaxError{Found: jsonscan.HTML}} {
		r := newMachineHarness(t, Options{}).synced("7").opens()
		r.receives("8")
		require.Equal(t, firstDelay, r.fails(err).Delay, "%v", err)
	}
}

// An event proves that the requested resourceVersion is valid, so earlier failures no longer count.
func TestEventsResetFailures(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	for _, version := range []string{"8", "9", "10", "11", "12"} {
		r.opens().receives(version)
		require.False(t, r.fails(status(500)).Relist)
	}
	require.Equal(t, "12", r.options().ResourceVersion)
}

func TestCompleteListResetsFailures(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	r.watchFails(status(500))
	require.True(t, r.watchFails(status(500)).Relist)
	r.synced("8")
	require.False(t, r.watchFails(status(500)).Relist)
}

func TestEventWithoutVersionKeepsLastVersion(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	require.Nil(t, r.receives(""))
	require.Nil(t, r.bookmarks("0"))
	require.Equal(t, "7", r.options().ResourceVersion)
}

// Some servers and proxies close a watch cleanly if its resourceVersion has expired. Three such watches in a row must
// cause a relist.
func TestThreeInstantClosesMeanExpired(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: firstDelay}, r.opens().closes())
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: 2 * firstDelay}, r.opens().closes())
	require.Equal(t, &Interruption{Err: ErrExpired, Relist: true}, r.opens().closes())
	r.synced("7")
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: 4 * firstDelay}, r.opens().closes(), "a relist must reset the count of instant closes")
}

func TestInstantClosesMustBeConsecutive(t *testing.T) {
	steps := map[string]func(*machineHarness){
		"healthy watch":        func(r *machineHarness) { r.opens().pass(healthyAfter); r.closes() },
		"failed watch request": func(r *machineHarness) { r.watchFails(errReset) },
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			r := newMachineHarness(t, Options{}).synced("7")
			r.opens().closes()
			r.opens().closes()
			step(r)
			require.Equal(t, ErrWatchClosed, r.opens().closes().Err)
			require.Equal(t, ErrWatchClosed, r.opens().closes().Err)
			require.Equal(t, ErrExpired, r.opens().closes().Err)
		})
	}
}

func TestRepeatedBookmarkIsNotProgress(t *testing.T) {
	for _, version := range []string{"7", "", "0"} {
		r := newMachineHarness(t, Options{}).synced("7").opens()
		r.bookmarks(version)
		require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: firstDelay}, r.closes())
	}
}

// If a source omits WatchStarted, a watch counts as healthy only once it has received another event.
func TestSourceWithoutWatchStarted(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").rest()
	r.ask()
	r.receives("8")
	require.Equal(t, &Interruption{Err: ErrWatchClosed}, r.closes())
	r.ask()
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: firstDelay}, r.closes())
}

// The first relist follows immediately. Later relists are delayed, even if each watch receives an event.
func TestRepeatedExpiryIsDelayed(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	for i, version := range []string{"8", "9", "10"} {
		r.opens().receives(version)
		want := &Interruption{Err: status(410), Relist: true, Delay: []time.Duration{0, firstDelay, 2 * firstDelay}[i]}
		require.Equal(t, want, r.fails(status(410)))
		r.synced(version)
	}
	r.opens().receives("11")
	r.fails(errReset)
	r.opens().receives("12")
	require.Zero(t, r.rest().fails(status(410)).Delay, "a relist must not be delayed if the previous watch did not end with 410")
}

func TestAtMostFourLargeListsPerMinute(t *testing.T) {
	r := newMachineHarness(t, Options{})
	require.Nil(t, r.page("7", "", "a", 800))
	begun := []moment{r.now}
	for n := range 100 {
		r.opens().receives(strconv.Itoa(2*n + 8))
		r.fails(errReset) // resets the backoff
		r.opens().receives(strconv.Itoa(2*n + 9))
		r.pass(2 * time.Second)
		r.pass(r.fails(status(410)).Delay)
		begun = append(begun, r.now)
		require.Nil(t, r.page(strconv.Itoa(2*n+9), "", "a", 500))
	}
	for i := 4; i < len(begun); i++ {
		require.GreaterOrEqual(t, begun[i]-begun[i-4], time.Minute)
	}
}

// Four lists of 500 objects per minute are permitted, and so are forty lists of 50 objects.
func TestListsCostTheirObjects(t *testing.T) {
	r := newMachineHarness(t, Options{})
	listOf := func(objects int) (delay time.Duration) {
		require.Nil(t, r.page("7", "", "a", objects))
		delay = r.opens().fails(status(404)).Delay - r.policy.lastBackoff
		r.policy.resetBackoff()
		r.policy.budgetFull = 0
		return delay
	}
	for range 39 {
		require.Zero(t, listOf(50))
	}
	require.Equal(t, 60*time.Second-800*time.Millisecond, listOf(50))
}

// A small collection must be current again within seconds, even if its server restarts and loses its history many
// times.
func TestSmallCollectionsRecoverFromManyRestarts(t *testing.T) {
	for objects, most := range map[int]time.Duration{5: 5 * time.Second, 5000: 65 * time.Second} {
		r := newMachineHarness(t, Options{})
		r.policy.random = func() float64 { return 0.9 }
		require.Nil(t, r.page("7", "", "a", objects))
		longest := time.Duration(0)
		for range 6 {
			r.opens().receives("8")
			r.pass(3 * time.Second)
			r.pass(r.fails(errReset).Delay)
			r.pass(r.watchFails(errReset).Delay) // the server is down
			back := r.now
			r.pass(r.watchFails(status(410)).Delay)
			require.Nil(t, r.page("8", "", "a", objects))
			longest = max(longest, r.now-back)
		}
		require.LessOrEqual(t, longest, most, "%d objects", objects)
		if objects > 500 {
			require.Greater(t, longest, 30*time.Second, "many large lists must be delayed")
		}
	}
}

// A failed list costs the server as much as it delivers, so it must count towards the list limit.
func TestFailedListWithObjectsCounts(t *testing.T) {
	r := newMachineHarness(t, Options{})
	for range 3 {
		r.ask()
		r.failsAfter(errReset, 500, false)
	}
	require.Equal(t, 8*firstDelay, r.listFails(errReset).Delay)
	r.ask()
	require.Equal(t, time.Minute, r.failsAfter(errReset, 500, false).Delay)
}

// The request budget allows ten requests at once and then one request per second.
func TestRequestBudget(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	began, requests := r.now, 2
	for n := 8; r.now-began < time.Minute; n++ {
		r.opens().receives(strconv.Itoa(n))
		result := r.closes()
		require.False(t, result.Relist)
		r.pass(result.Delay)
		requests++
	}
	require.InDelta(t, requestBurst+60, requests, 2)
}

func TestBackoffDoublesUpToMaximum(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	var delays []time.Duration
	for range 8 {
		delays = append(delays, r.rest().watchFails(errReset).Delay)
	}
	require.Equal(t, []time.Duration{800e6, 1600e6, 3200e6, 6400e6, 12800e6, 25600e6, 30e9, 30e9}, delays)
	r.policy.random = func() float64 { return 0.5 }
	require.Equal(t, 45*time.Second, r.watchFails(errReset).Delay, "jitter must increase the delay by at most 100%")
}

// A watch resets the backoff if it closes cleanly after an event, or if it was open for two minutes.
func TestHealthyWatchResetsBackoff(t *testing.T) {
	failing := func() *machineHarness {
		r := newMachineHarness(t, Options{}).synced("7")
		r.watchFails(errReset)
		r.watchFails(errReset)
		return r.opens()
	}
	r := failing()
	r.receives("8")
	r.closes()
	require.Equal(t, firstDelay, r.watchFails(errReset).Delay)

	r = failing()
	r.receives("8")
	require.Equal(t, 4*firstDelay, r.fails(status(500)).Delay, "an event must not reset the backoff if the watch then ends with a server error")

	r = failing()
	r.pass(provenAfter)
	require.Equal(t, firstDelay, r.fails(status(500)).Delay)
}

// All clients receive the same Retry-After, so the client adds a random delay.
func TestRetryAfterHasJitter(t *testing.T) {
	overloaded := &StatusError{Code: 429, RetryAfter: 5 * time.Second}
	r := newMachineHarness(t, Options{}).synced("7")
	r.policy.random = func() float64 { return 0.5 }
	require.Equal(t, 5250*time.Millisecond, r.watchFails(overloaded).Delay)

	r = newMachineHarness(t, Options{})
	r.policy.random = func() float64 { return 0.5 }
	late := *tooLarge
	late.RetryAfter = time.Second
	require.Equal(t, 1050*time.Millisecond, r.listFails(&late).Delay, "a fallback must obey Retry-After")
}

// After ten responses with Retry-After without a reset, the backoff also applies.
func TestRepeatedRetryAfterGrows(t *testing.T) {
	overloaded := &StatusError{Code: 429, RetryAfter: time.Second}
	r := newMachineHarness(t, Options{}).synced("7")
	wait := func() time.Duration {
		r.pass(10 * time.Second) // refills the request budget
		return r.watchFails(overloaded).Delay
	}
	for range maxHonored {
		require.Equal(t, time.Second, wait())
	}
	for _, want := range []time.Duration{time.Second, 2 * firstDelay, 4 * firstDelay} {
		require.Equal(t, want, wait())
	}
	r.opens().receives("8")
	r.closes()
	require.Equal(t, time.Second, wait(), "a healthy watch must reset the count of Retry-After responses")
}

func TestRetryAfterIsCapped(t *testing.T) {
	for _, retryAfter := range []time.Duration{24 * time.Hour, math.MaxInt64} {
		r := newMachineHarness(t, Options{}).synced("7")
		require.Equal(t, 5*time.Minute, r.watchFails(&StatusError{Code: 429, RetryAfter: retryAfter}).Delay)
	}
}

// The duration of a slow dial must not count as the lifetime of a watch.
func TestSlowDialIsNotHealthyWatch(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	r.watchFails(errReset)
	r.ask()
	r.pass(time.Hour)
	require.Equal(t, 2*firstDelay, r.fails(errReset).Delay)
}
