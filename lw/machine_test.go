package lw

import (
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errReset = errors.New("connection reset")

func status(code int) *StatusError { return &StatusError{Status: Status{Code: code}} }

// rig drives a machine by hand, without jitter, at a time of its own.
type rig struct {
	*testing.T
	*machine
	now time.Time
}

// newRig returns a rig for a machine that makes ordinary lists.
func newRig(t *testing.T, opts Options) *rig {
	opts.NoStreamingList = true
	return newStreamingRig(t, opts)
}

func newStreamingRig(t *testing.T, opts Options) *rig {
	b := &rig{T: t, machine: newMachine(&opts, new(streamingVerdict)), now: time.Unix(0, 0)}
	b.random = func() float64 { return 0 }
	return b
}

func (b *rig) do(in input) *Break {
	in.now = b.now
	return b.step(in)
}

// synced brings the machine to a watch at a version.
func (b *rig) synced(version string) *rig {
	require.Nil(b, b.do(input{signal: pageRead, meta: ListMeta{ResourceVersion: version}}))
	require.Equal(b, watching, b.phase)
	return b
}

func (b *rig) watchFails(err error) *Break {
	b.do(input{signal: watchOpened})
	return b.do(input{signal: watchFailed, err: err})
}

func TestFirstListThenWatch(t *testing.T) {
	b := newRig(t, Options{})
	require.Equal(t, ListOptions{ResourceVersion: "0", Limit: 500}, b.list())
	require.Nil(t, b.do(input{signal: pageRead, meta: ListMeta{ResourceVersion: "7", Continue: "next"}}))
	require.Equal(t, ListOptions{Continue: "next", Limit: 500}, b.list(), "a version beside a token would be refused")
	b.synced("7")
	require.Equal(t, WatchOptions{ResourceVersion: "7", Timeout: 5 * time.Minute}, b.watch())
	b.random = func() float64 { return 0.9999 }
	require.InDelta(t, 10*time.Minute, b.watch().Timeout, float64(time.Second))
}

// TestResumeFrom: the first request is a watch, and all that may be wrong with its version leads to a list.
func TestResumeFrom(t *testing.T) {
	resumed := func() *rig { return newRig(t, Options{ResumeFrom: "7"}) }
	b := resumed()
	require.Equal(t, watching, b.phase)
	require.Equal(t, WatchOptions{ResourceVersion: "7", Timeout: 5 * time.Minute}, b.watch())
	require.Equal(t, &Break{Err: status(410), Relist: true}, b.watchFails(status(410)))
	require.Equal(t, ListOptions{ResourceVersion: "7"}, b.list())

	b = resumed()
	require.Equal(t, &Break{Err: ErrTooLarge, Relist: true, Delay: firstDelay}, b.watchFails(ErrTooLarge))
	require.Equal(t, ListOptions{Limit: 500}, b.list(), "the latest, as the server may be another one")

	b = resumed()
	b.do(input{signal: watchOpened})
	require.Equal(t, &Break{Err: ErrVersionRegressed, Relist: true, Delay: firstDelay}, b.do(input{signal: watchMoved, version: "3"}))
	b.synced("3")

	b = resumed()
	b.do(input{signal: watchOpened})
	b.now = b.now.Add(longWatch)
	require.Equal(t, &Break{Err: ErrWatchClosed}, b.do(input{signal: watchEnded}))
	require.Equal(t, checking, b.phase, "nothing came: is it a version of the future?")

	b = resumed()
	require.Equal(t, &Break{Err: errReset, Delay: firstDelay}, b.do(input{signal: watchFailed, err: errReset}))
	require.Equal(t, "7", b.watch().ResourceVersion)

	streams := newStreamingRig(t, Options{ResumeFrom: "7"})
	require.False(t, streams.watch().SendInitialEvents)
	streams.watchFails(status(410))
	require.Equal(t, WatchOptions{ResourceVersion: "7", Timeout: 5 * time.Minute, SendInitialEvents: true}, streams.watch())
	for _, none := range []string{"", "0"} {
		require.Equal(t, listing, newRig(t, Options{ResumeFrom: none}).phase)
	}
}

func TestPageSizes(t *testing.T) {
	require.Equal(t, 20, newRig(t, Options{PageSize: 20}).list().Limit)
	require.Zero(t, newRig(t, Options{PageSize: -1}).list().Limit)
}

// TestRelistAtTheLastVersion, which is not paged, so that the server answers from its cache; then at the latest, which is.
func TestRelistAtTheLastVersionThenTheLatest(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	b.do(input{signal: watchOpened})
	b.do(input{signal: watchMoved, version: "9"})
	require.Equal(t, &Break{Err: status(410), Relist: true}, b.do(input{signal: watchFailed, err: status(410)}))
	require.Equal(t, ListOptions{ResourceVersion: "9"}, b.list())
	require.Equal(t, &Break{Err: status(410), Relist: true}, b.do(input{signal: listFailed, err: status(410)}))
	require.Equal(t, ListOptions{Limit: 500}, b.list())
	again := b.do(input{signal: listFailed, err: status(410)})
	require.Equal(t, firstDelay, again.Delay, "there is no other remedy left")
	b.synced("12")
	require.Equal(t, "12", b.watch().ResourceVersion)
}

// TestListsStayPaged where a list of version "0" was: there is no watch cache then, and an unpaged list would only be large.
func TestListsStayPaged(t *testing.T) {
	b := newRig(t, Options{PageSize: 10})
	require.Nil(t, b.do(input{signal: pageRead, meta: ListMeta{ResourceVersion: "7", Continue: "next"}}))
	b.synced("7")
	b.watchFails(status(410))
	require.Equal(t, ListOptions{ResourceVersion: "7", Limit: 10}, b.list())
}

// TestAVersionThatNoServerGave: the list that follows asks for none. Without a version of its own, a list that is wrong is not at
// once another one.
func TestAVersionThatNoServerGave(t *testing.T) {
	b := newRig(t, Options{ResumeFrom: "abc"})
	for range mostFaults {
		b.watchFails(status(500)) // as a kube-apiserver answers it
	}
	require.Equal(t, "abc", b.list().ResourceVersion)
	b.do(input{signal: listFailed, err: status(503)})
	require.Equal(t, "abc", b.list().ResourceVersion, "which is the fault of no version")
	require.Equal(t, &Break{Err: status(400), Relist: true}, b.do(input{signal: listFailed, err: status(400)}))
	require.Equal(t, ListOptions{Limit: 500}, b.list())
	require.NotZero(t, b.do(input{signal: listFailed, err: status(400)}).Delay)

	b = newRig(t, Options{})
	require.NotZero(t, b.do(input{signal: listFailed, err: status(400)}).Delay)
	require.Equal(t, "0", b.list().ResourceVersion)
}

func TestTooLargeVersionRelistsAtTheLatest(t *testing.T) {
	tooLarge := &StatusError{Status: Status{Code: 504, Message: "Too large resource version"}}
	b := newRig(t, Options{}).synced("7")
	require.True(t, b.watchFails(tooLarge).Relist)
	require.Equal(t, ListOptions{Limit: 500}, b.list())

	b = newRig(t, Options{})
	require.Zero(t, b.do(input{signal: listFailed, err: tooLarge}).Delay)
	require.Equal(t, ListOptions{Limit: 500}, b.list())
}

func TestExpiredContinueTokenListsWhole(t *testing.T) {
	b := newRig(t, Options{})
	b.do(input{signal: pageRead, meta: ListMeta{ResourceVersion: "7", Continue: "next"}})
	require.Equal(t, &Break{Err: status(410), Relist: true}, b.do(input{signal: listFailed, err: status(410)}))
	require.Equal(t, ListOptions{ResourceVersion: "0"}, b.list())
	b.synced("9")
	b.watchFails(status(410))
	b.listVersion = ""
	require.Equal(t, 500, b.list().Limit, "the next list is paged again")
}

// TestAnyPageThatFailsBeginsTheListAnew, after a delay.
func TestAnyPageThatFailsBeginsTheListAnew(t *testing.T) {
	b := newRig(t, Options{})
	b.do(input{signal: pageRead, meta: ListMeta{Continue: "next"}})
	require.Equal(t, &Break{Err: errReset, Relist: true, Delay: firstDelay}, b.do(input{signal: listFailed, err: errReset}))
	require.Empty(t, b.list().Continue)
}

// TestWhatEndsAWatch: resumed or relisted, at once or after a delay, and what happens when it happens again.
func TestWhatEndsAWatch(t *testing.T) {
	malformed := &MalformedError{Expected: "x"}
	cut := &MalformedError{Err: io.ErrUnexpectedEOF}
	const first, second = firstDelay, 2 * firstDelay
	cases := []struct {
		name          string
		err           error
		once, twice   bool // whether a relist follows
		delay, delay2 time.Duration
	}{
		{"ERROR or HTTP 410", status(410), true, true, 0, first},
		{"connection reset", errReset, false, false, first, second},
		{"stream cut short", cut, false, false, first, second},
		{"429", status(429), false, false, first, second},
		{"429 with Retry-After", &StatusError{Status: Status{Code: 429}, RetryAfter: 7 * time.Second}, false, false, 7 * time.Second, 7 * time.Second},
		{"503 with Retry-After", &StatusError{Status: Status{Code: 503}, RetryAfter: time.Millisecond}, false, true, first, second},
		{"500, as for a version that does not parse", status(500), false, true, first, second},
		{"400", status(400), false, true, first, second},
		{"401", status(401), false, false, first, second},
		{"403", status(403), false, false, first, second},
		{"404", status(404), true, true, first, second},
		{"garbage", malformed, false, true, first, second},
		{"frame too large", &FrameTooLargeError{}, false, true, first, second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newRig(t, Options{}).synced("7")
			require.Equal(t, &Break{Err: c.err, Relist: c.once, Delay: c.delay}, b.watchFails(c.err))
			b.synced("7")
			require.Equal(t, &Break{Err: c.err, Relist: c.twice, Delay: c.delay2}, b.watchFails(c.err))
		})
	}
}

// TestProgressForgivesFaults: an event in between shows that the version is good.
func TestProgressForgivesFaults(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	for _, version := range []string{"8", "9", "10", "11", "12"} {
		b.do(input{signal: watchOpened})
		b.do(input{signal: watchMoved, version: version})
		require.False(t, b.do(input{signal: watchFailed, err: status(500)}).Relist)
	}
	require.Equal(t, "12", b.watch().ResourceVersion)
}

// TestEventWithoutVersionKeepsTheLastOne, from which a resume is safe.
func TestEventWithoutVersionKeepsTheLastOne(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	b.do(input{signal: watchMoved})
	require.Equal(t, "7", b.watch().ResourceVersion)
}

func TestCleanEndResumesAtOnce(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	for range 10 {
		b.do(input{signal: watchOpened})
		b.now = b.now.Add(shortWatch)
		require.Equal(t, &Break{Err: ErrWatchClosed}, b.do(input{signal: watchEnded}))
	}
}

// TestThreeInstantCleanEndsMeanExpired: some servers and proxies say "too old" so.
func TestThreeInstantCleanEndsMeanExpired(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	end := func() *Break {
		b.do(input{signal: watchOpened})
		return b.do(input{signal: watchEnded})
	}
	require.Equal(t, &Break{Err: ErrWatchClosed, Delay: firstDelay}, end())
	require.Equal(t, &Break{Err: ErrWatchClosed, Delay: 2 * firstDelay}, end())
	require.Equal(t, &Break{Err: ErrExpired, Relist: true}, end())
	b.synced("7")
	require.Equal(t, &Break{Err: ErrWatchClosed, Delay: 4 * firstDelay}, end(), "three more")
}

// TestASourceThatNeverSaysLive is paced as any other: what never was open ended at once, and is no news because of what came before.
func TestASourceThatNeverSaysLive(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	b.now = b.now.Add(time.Hour)
	end := func() *Break { return b.do(input{signal: watchEnded}) }
	b.do(input{signal: watchMoved, version: "8"})
	require.Equal(t, &Break{Err: ErrWatchClosed}, end())
	require.Equal(t, watching, b.phase)
	require.Equal(t, &Break{Err: ErrWatchClosed, Delay: firstDelay}, end())
	b.do(input{signal: watchMoved, version: "8"})
	require.Equal(t, &Break{Err: ErrWatchClosed, Delay: 2 * firstDelay}, end())
	require.Equal(t, &Break{Err: ErrExpired, Relist: true}, end())
	b.synced("8")
	b.do(input{signal: watchMoved, version: "9"})
	require.NotZero(t, b.do(input{signal: watchFailed, err: ErrExpired}).Delay, "as it comes again each time")
}

// TestBookmarksWithoutNewsAreNoProgress: a watch that ends at once behind one is not asked for again without a delay.
func TestBookmarksWithoutNewsAreNoProgress(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	for _, want := range []*Break{{Err: ErrWatchClosed, Delay: firstDelay}, {Err: ErrWatchClosed, Delay: 2 * firstDelay}, {Err: ErrExpired, Relist: true}} {
		b.do(input{signal: watchOpened})
		b.do(input{signal: watchMoved, version: "7"})
		require.Equal(t, want, b.do(input{signal: watchEnded}))
	}
}

// TestExpiredAgainAndAgain: a watch that brings something and is then called too old, each time, is no reason to hurry.
func TestExpiredAgainAndAgain(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	for i, version := range []string{"8", "9", "10"} {
		b.do(input{signal: watchOpened})
		b.do(input{signal: watchMoved, version: version})
		want := &Break{Err: status(410), Relist: true, Delay: []time.Duration{0, firstDelay, 2 * firstDelay}[i]}
		require.Equal(t, want, b.do(input{signal: watchFailed, err: status(410)}))
		b.synced(version)
	}
	b.do(input{signal: watchOpened})
	b.now = b.now.Add(shortWatch)
	b.do(input{signal: watchMoved, version: "11"})
	require.Zero(t, b.do(input{signal: watchFailed, err: status(410)}).Delay)
}

func TestBackoffDoublesUpToAMaximumAndHeals(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	var delays []time.Duration
	for range 8 {
		delays = append(delays, b.watchFails(errReset).Delay)
	}
	require.Equal(t, []time.Duration{800e6, 1600e6, 3200e6, 6400e6, 12800e6, 25600e6, 30e9, 30e9}, delays)
	b.random = func() float64 { return 0.5 }
	require.Equal(t, 45*time.Second, b.watchFails(errReset).Delay, "jitter adds up to as much again")
	b.random = func() float64 { return 0 }
	b.do(input{signal: watchOpened})
	b.now = b.now.Add(healthyAfter - 1)
	require.Equal(t, longestDelay, b.do(input{signal: watchFailed, err: errReset}).Delay)
	b.do(input{signal: watchOpened})
	b.now = b.now.Add(healthyAfter)
	require.Equal(t, firstDelay, b.do(input{signal: watchFailed, err: errReset}).Delay)
}

// TestAWatchThatBroughtSomethingMayEnd at any time: it is none from too old a version, nor from the future.
func TestAWatchThatBroughtSomethingMayEnd(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	b.do(input{signal: watchOpened})
	b.do(input{signal: watchMoved, version: "8"})
	require.Equal(t, &Break{Err: ErrWatchClosed}, b.do(input{signal: watchEnded}))
	for _, lived := range []time.Duration{0, longWatch} {
		b = newStreamingRig(t, Options{})
		b.do(input{signal: watchOpened})
		b.do(input{signal: watchSynced, version: "7"})
		b.now = b.now.Add(lived)
		require.Equal(t, &Break{Err: ErrWatchClosed}, b.do(input{signal: watchEnded}))
		require.Equal(t, watching, b.phase)
	}
}

// TestALongWatchThatEndsWellHeals, too, and what is asked next is waited for as ever.
func TestALongWatchThatEndsWellHeals(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	b.watchFails(errReset)
	b.do(input{signal: watchOpened})
	b.do(input{signal: watchMoved, version: "8"})
	b.now = b.now.Add(healthyAfter)
	require.Equal(t, &Break{Err: ErrWatchClosed}, b.do(input{signal: watchEnded}))
	require.Equal(t, silentRequest, b.silence(minTimeout, false))
	require.Equal(t, firstDelay, b.do(input{signal: watchFailed, err: errReset}).Delay)
}

// TestWhoWereRefusedTogetherComeBackApart: all are told the same Retry-After, so what is random comes on top of it, and grows.
func TestWhoWereRefusedTogetherComeBackApart(t *testing.T) {
	refused := &StatusError{Status: Status{Code: 429}, RetryAfter: 5 * time.Second}
	b := newRig(t, Options{}).synced("7")
	b.random = func() float64 { return 0.5 }
	for _, spread := range []time.Duration{firstDelay, 2 * firstDelay, 4 * firstDelay} {
		require.Equal(t, 5*time.Second+spread/2, b.watchFails(refused).Delay)
	}
	require.Equal(t, 12*firstDelay, b.watchFails(refused).Delay, "a longer delay of our own holds")
	refused.RetryAfter = math.MaxInt64 // which nothing can be added to
	require.Greater(t, b.watchFails(refused).Delay, math.MaxInt32*time.Second)

	b = newRig(t, Options{})
	b.random = func() float64 { return 0.5 }
	tooLarge := &StatusError{Status: Status{Code: 504, Message: "Too large resource version"}, RetryAfter: time.Second}
	require.Equal(t, time.Second+firstDelay/2, b.do(input{signal: listFailed, err: tooLarge}).Delay, "not at once, if the server asks")
}

// TestTimeWithoutAWatchDoesNotHeal: only a watch that lived shows health, not a dial that took long to fail.
func TestTimeWithoutAWatchDoesNotHeal(t *testing.T) {
	b := newRig(t, Options{}).synced("7")
	b.watchFails(errReset)
	b.now = b.now.Add(time.Hour)
	require.Equal(t, 2*firstDelay, b.do(input{signal: watchFailed, err: errReset}).Delay)
}

func TestStopOn(t *testing.T) {
	b := newRig(t, Options{StopOn: Refused})
	require.Equal(t, &Break{Err: status(403), Final: true}, b.do(input{signal: listFailed, err: status(403)}))
	require.Equal(t, stopped, b.phase)
}
