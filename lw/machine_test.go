package lw

import (
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFirstListThenWatch(t *testing.T) {
	r := newMachineHarness(t, Options{})
	require.Equal(t, ListOptions{ResourceVersion: "0", Limit: 500}, r.options())
	require.Nil(t, r.page("7", "next", "a", 2))
	require.Equal(t, ListOptions{Continue: "next", Limit: 500}, r.options(), "a continue token must not be sent with a resourceVersion")
	require.Nil(t, r.page("7", "", "c", 1))
	r.ask()
	require.Equal(t, ListOptions{ResourceVersion: "7", Timeout: shortTimeout}, r.options())
}

// Until the first bookmark arrives, only the end of a watch shows that the server is alive, so watches must request a
// short timeout.
func TestWatchesAreShortUntilBookmark(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	require.Equal(t, shortTimeout, r.options().Timeout)
	require.Nil(t, r.bookmarks("7"))
	r.fails(errReset)
	r.ask()
	require.Equal(t, longTimeout, r.options().Timeout)
	r.policy.random = func() float64 { return 0.9999 }
	r.ask()
	require.InDelta(t, 2*longTimeout, r.options().Timeout, float64(time.Second))
	r.do(response{event: WatchStarted})
	r.fails(ErrSilent)
	r.policy.random = func() float64 { return 0 }
	r.ask()
	require.Equal(t, shortTimeout, r.options().Timeout, "the timeout must be short again, because the server may have stopped sending bookmarks")
}

func TestIdleTimeoutOfEachState(t *testing.T) {
	r := newStreamingHarness(t, Options{})
	r.ask()
	require.Equal(t, 90*time.Second, r.idle(), "idle timeout before the response")
	r.do(response{event: WatchStarted})
	require.Equal(t, 10*time.Second, r.idle(), "idle timeout of a streaming list")
	r.receives("3")
	r.marks("7")
	require.Equal(t, 65*time.Second, r.idle(), "idle timeout of a short watch without bookmarks")
	r.bookmarks("8")
	require.Equal(t, 140*time.Second, r.idle(), "idle timeout of a watch with bookmarks")
	r.fails(errReset)
	r.opens()
	require.Equal(t, 140*time.Second, r.idle(), "idle timeout of the next watch")
	r.server.bookmarks.Store(false)
	require.LessOrEqual(t, r.idle(), 140*time.Second, "idle timeout after another stream received no bookmarks")
	require.Equal(t, 90*time.Second, newMachineHarness(t, Options{}).idle(), "idle timeout of a list")
}

// A stream with a saved resourceVersion must start with a watch. If the server rejects the resourceVersion, a list must
// follow.
func TestResume(t *testing.T) {
	resumed := func() *machineHarness { return newResumedHarness(t, "7", Options{NoStreamingList: true}) }
	r := resumed().opens()
	require.Equal(t, ListOptions{ResourceVersion: "7", Timeout: shortTimeout}, r.options())
	require.Equal(t, &Interruption{Err: status(410), Relist: true}, r.fails(status(410)))
	require.Equal(t, ListOptions{ResourceVersion: "7"}, r.options())

	r = resumed()
	require.Equal(t, &Interruption{Err: tooLarge, Relist: true, Delay: firstDelay}, r.watchFails(tooLarge))
	require.Equal(t, ListOptions{Limit: 500}, r.options(), "the list must request the latest state, because the resourceVersion may come from another server")

	r = resumed().opens()
	require.Equal(t, &Interruption{Err: errVersionRegressed, Relist: true, Delay: firstDelay}, r.receives("3"))
	r.synced("3")

	r = resumed()
	require.Equal(t, &Interruption{Err: errReset, Delay: firstDelay}, r.listFails(errReset))
	r.ask()
	require.Equal(t, "7", r.options().ResourceVersion)

	streams := newResumedHarness(t, "7", Options{})
	require.False(t, streams.options().SendInitialEvents)
	streams.watchFails(status(410))
	streams.ask()
	require.Equal(t, ListOptions{ResourceVersion: "7", Timeout: shortTimeout, SendInitialEvents: true}, streams.options())
	for _, none := range []string{"", "0"} {
		require.Equal(t, listing, newResumedHarness(t, none, Options{NoStreamingList: true}).state)
	}
}

func TestPageSizes(t *testing.T) {
	require.Equal(t, 20, newMachineHarness(t, Options{PageSize: 20}).options().Limit)
	require.Zero(t, newMachineHarness(t, Options{PageSize: -1}).options().Limit)
}

// The first relist requests the stream's last resourceVersion without a limit, so that the server answers from its
// watch cache. If that fails, the second relist requests the latest state, with a limit.
func TestRelistsAtLastVersionThenLatest(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	r.receives("9")
	require.Equal(t, &Interruption{Err: status(410), Relist: true}, r.fails(status(410)))
	require.Equal(t, ListOptions{ResourceVersion: "9"}, r.options())
	require.Equal(t, &Interruption{Err: status(410), Relist: true}, r.listFails(status(410)))
	require.Equal(t, ListOptions{Limit: 500}, r.options())
	require.Equal(t, firstDelay, r.listFails(status(410)).Delay, "another 410 must cause a delay, because no fallback remains")
	r.synced("12").opens()
	require.Equal(t, "12", r.options().ResourceVersion)
}

// A server that splits a list at resourceVersion "0" into pages has no watch cache. Lists from such a server must keep
// their limit, because a list without a limit would not be faster.
func TestListsStayPaged(t *testing.T) {
	r := newMachineHarness(t, Options{PageSize: 10})
	require.Nil(t, r.page("7", "next", "a", 10))
	require.Nil(t, r.page("7", "", "k", 1))
	r.watchFails(status(410))
	require.Equal(t, ListOptions{ResourceVersion: "7", Limit: 10}, r.options())
}

// A server may reject the saved resourceVersion after the cluster's storage was replaced. The stream must then list the
// latest state.
func TestUnknownVersionRelistsLatest(t *testing.T) {
	r := newResumedHarness(t, "abc", Options{NoStreamingList: true})
	for range maxSuspect {
		r.watchFails(status(500)) // kube-apiserver may respond with 500 to a malformed resourceVersion
	}
	require.Equal(t, "abc", r.options().ResourceVersion)
	r.listFails(status(503))
	require.Equal(t, "abc", r.options().ResourceVersion, "a 503 must not change the resourceVersion")
	require.Equal(t, &Interruption{Err: status(400), Relist: true}, r.listFails(status(400)))
	require.Equal(t, ListOptions{Limit: 500}, r.options())
	require.NotZero(t, r.listFails(status(400)).Delay)

	r = newMachineHarness(t, Options{})
	require.NotZero(t, r.listFails(status(400)).Delay)
	require.Equal(t, "0", r.options().ResourceVersion)
}

func TestTooLargeVersionRelistsLatest(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	require.True(t, r.watchFails(tooLarge).Relist)
	require.Equal(t, ListOptions{Limit: 500}, r.options())

	r = newMachineHarness(t, Options{})
	require.Zero(t, r.listFails(tooLarge).Delay)
	require.Equal(t, ListOptions{Limit: 500}, r.options())
}

func TestExpiredContinueTokenLeadsToUnpagedList(t *testing.T) {
	r := newMachineHarness(t, Options{})
	r.page("7", "next", "a", 1)
	require.Equal(t, &Interruption{Err: status(410), Relist: true}, r.listFails(status(410)))
	require.Equal(t, ListOptions{ResourceVersion: "0"}, r.options())
	r.listFails(errReset)
	require.Equal(t, ListOptions{ResourceVersion: "0"}, r.options(), "lists must stay unpaginated until a list is complete")
	r.synced("9")
	r.watchFails(tooLarge)
	require.Equal(t, 500, r.options().Limit, "the next list must be paginated again")
}

func TestFailedPageRestartsList(t *testing.T) {
	r := newMachineHarness(t, Options{})
	r.page("7", "next", "a", 1)
	require.Equal(t, &Interruption{Err: errReset, Relist: true, Delay: firstDelay}, r.listFails(errReset))
	require.Empty(t, r.options().Continue)
}

// The client would miss changes between two pages with different resourceVersions, so such a list must fail.
func TestPagesMustHaveOneVersion(t *testing.T) {
	for _, second := range []string{"8", ""} {
		r := newMachineHarness(t, Options{})
		require.Nil(t, r.page("7", "next", "a", 1))
		require.Equal(t, &Interruption{Err: errInconsistentPages, Relist: true, Delay: firstDelay}, r.page(second, "", "b", 1))
		require.Equal(t, ListOptions{ResourceVersion: "0"}, r.options(), "the next list must be unpaginated")
	}
	r := newMachineHarness(t, Options{})
	require.Nil(t, r.page("", "next", "a", 1))
	require.Equal(t, errInconsistentPages, r.page("8", "", "b", 1).Err)
}

func TestRepeatedPagesMakeNoProgress(t *testing.T) {
	circles := map[string][][2]string{ // continue token and first object of each page
		"repeated token":                  {{"x", "a"}, {"x", "b"}},
		"alternating tokens":              {{"x", "a"}, {"y", "b"}, {"x", "a"}},
		"repeated objects":                {{"x", "a"}, {"y", "a"}},
		"repeated last page":              {{"x", "a"}, {"y", "b"}, {"", "b"}},
		"loop after some pages":           {{"x", "a"}, {"y", "b"}, {"z", "c"}, {"y", "b"}},
		"repeated token without objects":  {{"x", ""}, {"x", ""}},
		"repeated token, then no objects": {{"x", "a"}, {"x", ""}},
	}
	for name, pages := range circles {
		t.Run(name, func(t *testing.T) {
			r := newMachineHarness(t, Options{})
			for i, page := range pages {
				objects := min(len(page[1]), 1)
				result := r.page("7", page[0], page[1], objects)
				if i < len(pages)-1 {
					require.Nil(t, result)
					continue
				}
				require.Equal(t, &Interruption{Err: errNoProgress, Relist: true, Delay: firstDelay}, result)
				require.Equal(t, ListOptions{ResourceVersion: "0"}, r.options(), "the next list must be unpaginated")
			}
		})
	}
}

// The request budget must not slow down a list of a million objects, which needs 2,000 pages.
func TestPagesWithProgressNeedNoBudget(t *testing.T) {
	r := newMachineHarness(t, Options{})
	for n := range 2000 {
		require.Nil(t, r.page("7", "t"+strconv.Itoa(n), "o"+strconv.Itoa(n), 500))
	}
	r.synced("7")
	require.Zero(t, r.watchFails(status(410)).Delay, "only the first page and the watch may count toward the request budget")
}

// Some servers filter the objects of a page after they have limited its size, so a few empty pages are normal. A list must
// fail if it has too many of them in a row.
func TestEmptyPagesNeedBudget(t *testing.T) {
	r := newMachineHarness(t, Options{})
	for n := range requestBurst - 1 {
		require.Nil(t, r.page("7", "t"+strconv.Itoa(n), "", 0))
	}
	require.Equal(t, &Interruption{Err: errNoProgress, Relist: true, Delay: requestEvery}, r.page("7", "u", "", 0))
	require.Zero(t, r.options().Limit)
}

// A watch without a resourceVersion may miss changes, so each interruption causes a relist.
func TestListWithoutVersionCannotResume(t *testing.T) {
	for _, none := range []string{"", "0"} {
		r := newMachineHarness(t, Options{}).synced(none).opens()
		require.Equal(t, ListOptions{Timeout: shortTimeout}, r.options())
		require.Nil(t, r.receives("8"))
		require.Equal(t, &Interruption{Err: errReset, Relist: true, Delay: firstDelay}, r.fails(errReset))
		require.Equal(t, ListOptions{Limit: 500}, r.options())
	}
}

// The relist requests at least the stream's resourceVersion, so an older list breaks the protocol.
func TestRejectsOlderList(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	r.watchFails(status(410))
	require.Equal(t, &Interruption{Err: errVersionRegressed, Relist: true, Delay: firstDelay}, r.page("6", "", "a", 1))
	require.Equal(t, ListOptions{Limit: 500}, r.options())
	r.synced("6")
}

func TestStopOn(t *testing.T) {
	r := newMachineHarness(t, Options{StopOn: IsPermanent})
	require.Equal(t, &Interruption{Err: status(403), Final: true}, r.listFails(status(403)))
	require.Equal(t, stopped, r.state)
}

// If the requested resourceVersion is newer than the server's, the server accepts the watch but sends nothing. So the
// stream must check the resourceVersion if no events arrive.
func TestQuietCollectionIsChecked(t *testing.T) {
	quiet := func() *machineHarness {
		r := newMachineHarness(t, Options{}).synced("7")
		for range 4 {
			r.opens().pass(shortTimeout)
			require.Equal(t, &Interruption{Err: ErrWatchClosed}, r.closes())
			require.Equal(t, watching, r.state)
		}
		r.opens().pass(shortTimeout)
		require.Equal(t, &Interruption{Err: ErrWatchClosed}, r.closes())
		require.Equal(t, checking, r.state)
		require.Equal(t, ListOptions{Limit: 1}, r.options())
		return r
	}
	r := quiet()
	require.Nil(t, r.check("7", false))
	r.opens().pass(shortTimeout)
	r.closes()
	require.Equal(t, watching, r.state, "the engine must not check again within five minutes")

	r = quiet()
	require.Equal(t, &Interruption{Err: errVersionRegressed, Relist: true}, r.check("6", false))
	require.Equal(t, ListOptions{Limit: 500}, r.options())
}

// A server that was rebuilt while the connection was broken may have lower or unrelated resourceVersions. The check
// must detect this before the stream is live again.
func TestBrokenConnectionIsChecked(t *testing.T) {
	for name, broken := range map[string]error{"reset": errReset, "idle timeout": ErrSilent, "truncated": io.ErrUnexpectedEOF, "gateway": status(503)} {
		t.Run(name, func(t *testing.T) {
			r := newMachineHarness(t, Options{}).synced("7").opens()
			require.False(t, r.fails(broken).Relist)
			require.Equal(t, checking, r.state)
			require.Equal(t, ListOptions{Limit: 1}, r.options())
			require.Equal(t, &Interruption{Err: errReplaced, Relist: true}, r.check("9", true))
			require.Equal(t, ListOptions{Limit: 500}, r.options())
		})
	}
	r := newMachineHarness(t, Options{}).synced("7").opens()
	r.receives("8")
	for _, still := range []error{errReset, io.ErrUnexpectedEOF, status(502), status(503)} {
		r.fails(still)
		require.Equal(t, checking, r.state, "the engine must repeat the check while the server is down: %v", still)
		r.next(r.now)
	}
	require.Nil(t, r.check("8", false))
	require.Equal(t, watching, r.state)

	for _, rejected := range []error{status(403), status(429), status(500), status(504), ErrSilent} {
		r = newMachineHarness(t, Options{}).synced("7").opens()
		r.fails(errReset)
		r.next(r.now)
		r.fails(rejected)
		require.Equal(t, watching, r.state, "a server that rejects the check may still serve watches: %v", rejected)
	}
	r = newMachineHarness(t, Options{}).synced("7").opens()
	r.fails(errReset)
	r.next(r.now)
	require.True(t, r.fails(status(404)).Relist, "a collection that the server lacks may return with other objects")

	r = newMachineHarness(t, Options{}).synced("7").opens()
	r.closes()
	require.Equal(t, watching, r.state, "a clean close needs no check")
}

func TestEventsPostponeCheck(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7")
	for range 20 {
		r.opens().pass(shortTimeout)
		r.bookmarks("7")
		r.closes()
		require.Equal(t, watching, r.state)
	}
}

// A rebuilt server may close each watch before the watch becomes idle. The stream must not wait for the change forever.
func TestWatchesThatCloseEarlyDoNotDeliverChange(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	r.fails(errReset)
	r.next(r.now)
	require.Nil(t, r.do(response{version: "9", start: Key{Name: "a"}, objects: 1, first: "9"}))
	var end *Interruption
	for range 3 {
		require.Equal(t, watching, r.state)
		r.opens().pass(2 * time.Second)
		end = r.closes()
	}
	require.Equal(t, &Interruption{Err: errReplaced, Relist: true}, end)
}

// After a check has shown a newer object, no watch is live until it has delivered that change. A watch that ends before
// must not cancel this debt.
func TestNextWatchOwesSameChange(t *testing.T) {
	for name, end := range map[string]func(*machineHarness){
		"clean close":    func(r *machineHarness) { r.closes() },
		"error response": func(r *machineHarness) { r.fails(status(429)) },
		"failed check": func(r *machineHarness) {
			r.fails(errReset)
			r.next(r.now)
			r.fails(status(403))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newMachineHarness(t, Options{}).synced("7").opens()
			r.fails(errReset)
			r.next(r.now)
			require.Nil(t, r.do(response{version: "9", start: Key{Name: "a"}, objects: 1, first: "9"}))
			r.opens()
			end(r)
			require.Equal(t, watching, r.state)
			r.next(r.now)
			meaning, err := r.event(r.now, &response{event: WatchStarted})
			require.NoError(t, err)
			require.Equal(t, nothing, meaning, "the watch must not be live yet")
			require.Equal(t, idleOwed, r.idle())
			require.Equal(t, errReplaced, r.fails(ErrSilent).Err)
		})
	}
}
