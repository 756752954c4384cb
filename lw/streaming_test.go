package lw

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	endOfInitial = `{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	falseEnd     = `{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"false"}}}}` + "\n"
	missingEnd   = "INTERRUPTED the initial-events-end bookmark of the streaming list is missing or misplaced @"
)

// The stream must handle a streaming list whose objects are not sorted by resourceVersion and change before the list
// ends. A bookmark whose initial-events-end annotation is "false" must not end it.
func TestStreamingList(t *testing.T) {
	events, s := follow(t, &Options{}, answer{body: podEvent("ADDED", "a", "7") + podEvent("ADDED", "b", "3") +
		podEvent("MODIFIED", "b", "8") + falseEnd + podEvent("DELETED", "a", "9") + endOfInitial + podEvent("ADDED", "c", "10")})
	require.Equal(t, []string{
		"LIST_STARTED @", "ADDED a @", "ADDED b @", "MODIFIED b @", "DELETED a @", "SYNCED @9", "WATCH_STARTED @9", "ADDED c @10",
		"INTERRUPTED the server closed the watch cleanly @10",
	}, events)
	require.Equal(t, []string{
		"/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
		"/api/v1/pods?watch=1&resourceVersion=10",
	}, s.requests)
}

// The client confirms an empty streaming list with an ordinary list, because a server may send the bookmark before the
// objects.
func TestEmptyStreamingListIsConfirmed(t *testing.T) {
	events, s := follow(t, &Options{}, answer{body: endOfInitial}, answer{body: podList("9", "")}, answer{end: errReset})
	require.Equal(t, []string{"LIST_STARTED @", "SYNCED @9", "WATCH_STARTED @9", "INTERRUPTED connection reset @9"}, events)
	require.Equal(t, []string{
		"/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
		"/api/v1/pods?resourceVersion=9",
		"/api/v1/pods?watch=1&resourceVersion=9",
	}, s.requests[:3])
}

// After a streaming list with objects and a healthy watch, the client also accepts an empty streaming list without a
// check.
func TestEmptyStreamingListOfTrustedServerIsComplete(t *testing.T) {
	r := newStreamingHarness(t, Options{}).opens()
	require.Nil(t, r.marks("7"))
	require.Equal(t, listing, r.state)
	r.synced("7").opens().pass(healthyAfter)
	r.fails(status(410))
	r.opens().marks("8")
	require.Equal(t, listing, r.state, "an empty streaming list must be confirmed until a healthy watch follows a streaming list with objects")

	r = newStreamingHarness(t, Options{}).opens()
	r.receives("3")
	r.marks("7")
	r.pass(healthyAfter)
	r.fails(status(410))
	require.Nil(t, r.opens().marks("8"))
	require.Equal(t, watching, r.state)
	require.Equal(t, "8", r.options().ResourceVersion)
}

// The latest state of a rebuilt server may be older than the stream, so the list that confirms it may be older, too.
func TestEmptyStreamingListOfRebuiltServerIsConfirmed(t *testing.T) {
	r := newResumedHarness(t, "1000", Options{})
	require.True(t, r.watchFails(tooLarge).Relist)
	require.Nil(t, r.opens().marks("7"))
	r.synced("7")
}

// The objects that a streaming list delivers count towards the list limit, whether the list completes or fails.
func TestStreamingListsCostTheirObjects(t *testing.T) {
	charged := func(r *machineHarness) (objects int) {
		for _, begun := range r.policy.largeLists {
			if begun != 0 {
				objects += 3
			}
		}
		return objects + r.policy.small
	}
	r := newStreamingHarness(t, Options{PageSize: 3}).opens()
	r.receives("3")
	r.receives("4")
	r.marks("7")
	require.Equal(t, 2, charged(r))

	r = newStreamingHarness(t, Options{PageSize: 3}).opens()
	r.receives("3")
	r.fails(errReset)
	require.Equal(t, 1, charged(r))
	r.opens()
	for range 10 {
		r.receives("4")
	}
	r.marks("7")
	require.Equal(t, 4, charged(r), "a list must cost at most one page")
	r.fails(errReset)
	require.Equal(t, 4, charged(r), "a list must be charged once")

	r = newStreamingHarness(t, Options{PageSize: 3}).opens()
	r.marks("7")
	r.synced("7")
	require.Equal(t, 1, charged(r))
}

// After a 4xx response, the client stops requesting streaming lists at once. After other failures, it stops if two
// occur in a row.
func TestStreamingListFallsBack(t *testing.T) {
	invalid := &StatusError{Code: 422, Reason: "Invalid"}
	cases := map[string]struct {
		answer  answer
		events  []string
		settled bool
	}{
		"rejected":                       {answer{err: invalid}, []string{"INTERRUPTED the server answered 422 Invalid @"}, true},
		"rejected by an old server":      {answer{err: status(400)}, []string{"INTERRUPTED the server answered 400 @"}, true},
		"server shutting down":           {answer{err: status(503)}, []string{"INTERRUPTED the server answered 503 @"}, false},
		"ERROR event":                    {answer{body: faultEvent}, []string{"INTERRUPTED the server answered 500 InternalError: etcd is unwell @"}, false},
		"no initial-events-end bookmark": {answer{body: podEvent("ADDED", "a", "7")}, []string{"LIST_STARTED @", "ADDED a @", missingEnd}, false},
		"empty watch":                    {answer{}, []string{missingEnd}, false},
		"list instead of a watch":        {answer{body: podList("9", "")}, []string{`INTERRUPTED malformed response at byte 95: expected an "object" in the event, found none @`}, false},
		"idle before the bookmark":       {answer{body: podEvent("ADDED", "a", "7"), end: errHang}, []string{"LIST_STARTED @", "ADDED a @", "INTERRUPTED " + ErrSilent.Error() + " @"}, false},
	}
	const streaming, relist = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "/api/v1/pods?watch=1&resourceVersion=9&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			list, expired := answer{body: podList("9", "", "b")}, answer{body: expiredEvent}
			answers := []answer{c.answer, list, expired, c.answer, list, expired, list}
			requests := []string{streaming, "/api/v1/pods?resourceVersion=0&limit=500", "", relist, "/api/v1/pods?resourceVersion=9", "", "/api/v1/pods?resourceVersion=9"}
			if c.settled {
				answers, requests = []answer{c.answer, list, expired, list}, append(requests[:3:3], requests[4])
			}
			events, s := follow(t, &Options{}, answers...)
			require.Equal(t, append(c.events, "LIST_STARTED @", "ADDED b @", "SYNCED @9"), events[:len(c.events)+3])
			for i, want := range requests {
				if want != "" {
					require.Equal(t, want, s.requests[i], "URL of request %d", i)
				}
			}
		})
	}
}

// A healthy watch after a streaming list resets the number of failed streaming lists.
func TestStreamingListIsTrustedAgain(t *testing.T) {
	r := newStreamingHarness(t, Options{})
	for _, version := range []string{"7", "8", "9"} {
		require.Equal(t, streaming, r.state)
		r.rest().opens()
		require.Equal(t, &Interruption{Err: errNoInitialEnd, Relist: true}, r.closes())
		require.Equal(t, listing, r.state)
		r.synced(version)
		r.watchFails(status(410))
		require.Equal(t, streaming, r.state)
		r.opens().receives("3")
		r.marks(version)
		r.pass(healthyAfter)
		r.fails(status(410))
	}
	r.opens().closes()
	r.synced("9")
	r.rest().watchFails(status(410))
	r.opens().receives("3")
	r.marks("9")
	r.fails(status(410))
	r.opens().closes()
	require.EqualValues(t, maxStreamFaults, r.server.streams.Load(), "an unhealthy watch must not reset the number of failed streaming lists")
}

func TestObjectsAfterInitialEventsEnd(t *testing.T) {
	for _, late := range []string{"3", "7"} {
		r := newStreamingHarness(t, Options{}).opens()
		r.receives("2")
		require.Nil(t, r.marks("7"))
		require.Equal(t, &Interruption{Err: errNoInitialEnd, Relist: true}, r.receives(late))
		require.Equal(t, ListOptions{ResourceVersion: "7"}, r.options())
		require.False(t, r.server.streamsLists())
	}
}

func TestInitialEventsEndInWatchIsBookmark(t *testing.T) {
	r := newStreamingHarness(t, Options{}).opens()
	r.receives("3")
	r.marks("7")
	require.Nil(t, r.marks("9"))
	require.Equal(t, "9", r.options().ResourceVersion)
	require.Equal(t, errVersionRegressed, r.marks("8").Err)
}

// The relist requests at least the stream's resourceVersion, so an older list breaks the protocol.
func TestRejectsOlderStreamingList(t *testing.T) {
	r := newStreamingHarness(t, Options{}).opens()
	r.receives("3")
	r.marks("7")
	r.fails(status(410))
	r.opens()
	require.Equal(t, &Interruption{Err: errVersionRegressed, Relist: true, Delay: firstDelay}, r.marks("6"))
	require.Empty(t, r.options().ResourceVersion)
}

// A server without streaming lists answers with an ordinary watch, and in a busy collection the idle timeout never
// passes. So the streaming list must fail after a minute without an object that is certainly initial.
func TestStreamingListWithoutEndOnBusyCollection(t *testing.T) {
	r := newStreamingHarness(t, Options{}).opens()
	moves := func(version string) *Interruption {
		r.pass(stalledStream / 6)
		return r.receives(version)
	}
	for range 100 { // a long list over a slow connection
		require.Nil(t, moves("30"))
		require.Nil(t, moves("20"))
	}
	for _, version := range []string{"31", "32", "", "34", "35"} {
		require.Nil(t, moves(version))
	}
	require.Equal(t, &Interruption{Err: errNoInitialEnd, Relist: true}, moves("36"))
	require.Equal(t, listing, r.state)
}

// An object that arrived slowly does not also extend the minute that begins with it.
func TestSlowObjectExtendsStreamingListOnce(t *testing.T) {
	r := newStreamingHarness(t, Options{}).opens()
	require.Nil(t, r.receives("30"))
	r.pass(80 * time.Second)
	require.Nil(t, r.do(response{event: Modified, version: "20", receiving: 80 * time.Second}))
	r.pass(stalledStream)
	require.Equal(t, errNoInitialEnd, r.receives("31").Err)
}

// All streams of a client remember that the server has no streaming lists, even if a wrapper hides the client.
func TestRemembersMissingStreamingLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{answers: []answer{{err: status(422)}, {body: podList("9", "")}, {err: errReset}, {body: podList("9", "")}}}
		client := s.client(t, Pods(""))
		for _, lw := range []ListerWatcher[*Object]{client, struct{ *Client[*Object] }{client}} {
			for event := range ListAndWatch(t.Context(), lw, nil) {
				if event.Type == Synced {
					break
				}
			}
		}
		require.Equal(t, []string{
			"/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
			"/api/v1/pods?resourceVersion=0&limit=500", "/api/v1/pods?resourceVersion=0&limit=500",
		}, s.requests[:3])
	})
}

func TestStreamingListIsRetried(t *testing.T) {
	for _, err := range []error{errReset, status(429), status(401), status(403), status(404)} {
		r := newStreamingHarness(t, Options{})
		require.Equal(t, &Interruption{Err: err, Relist: true, Delay: firstDelay}, r.listFails(err))
		require.Equal(t, &Interruption{Err: err, Relist: true, Delay: 2 * firstDelay}, r.listFails(err))
		require.True(t, r.options().SendInitialEvents)
	}
}

func TestStreamingRelistAtLastVersionThenLatest(t *testing.T) {
	r := newStreamingHarness(t, Options{}).opens()
	require.Empty(t, r.options().ResourceVersion)
	r.receives("3")
	require.Nil(t, r.marks("9"))
	require.Equal(t, watching, r.state)
	require.True(t, r.fails(status(410)).Relist)
	r.ask()
	require.Equal(t, ListOptions{ResourceVersion: "9", Timeout: shortTimeout, SendInitialEvents: true}, r.options())
	require.Zero(t, r.fails(tooLarge).Delay)
	require.Empty(t, r.options().ResourceVersion)
	require.True(t, r.options().SendInitialEvents)
}

// silenceOf runs a stream until it reports ErrSilent. It returns the time that the stream waited for data, and the next
// request.
func silenceOf(t *testing.T, opts *Options, answers ...answer) (silent time.Duration, next string) {
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{answers: answers}
		last := time.Now()
		for event := range ListAndWatch(t.Context(), s.client(t, Pods("")), opts) {
			if event.Interruption != nil && event.Interruption.Err == ErrSilent {
				silent = time.Since(last)
			}
			if event.Interruption != nil && event.Interruption.Err == errHang {
				next = s.requests[len(s.requests)-2]
				return
			}
			last = time.Now()
		}
	})
	return silent, next
}

func TestIdleTimeouts(t *testing.T) {
	list := answer{body: podList("5", "")}
	bookmark := `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6"}}}`
	again := answer{body: podEvent("ADDED", "z", "99")}
	cases := map[string]struct {
		answers     []answer
		least, most time.Duration
		next        string
	}{
		"watch with bookmarks":     {[]answer{list, {body: bookmark, end: errHang}, again}, 140 * time.Second, 150 * time.Second, "/api/v1/pods?watch=1&resourceVersion=6"},
		"watch without bookmarks":  {[]answer{list, {body: podEvent("ADDED", "a", "6"), end: errHang}, again}, 65 * time.Second, 135 * time.Second, "/api/v1/pods?watch=1&resourceVersion=6"},
		"watch without a response": {[]answer{list, {err: errHang}, again}, 90 * time.Second, 100 * time.Second, "/api/v1/pods?watch=1&resourceVersion=5"},
		"list without a response":  {[]answer{{err: errHang}, list}, 90 * time.Second, 100 * time.Second, "/api/v1/pods?resourceVersion=0&limit=500"},
		"incomplete list":          {[]answer{{body: list.body[:60], end: errHang}, list}, 90 * time.Second, 100 * time.Second, "/api/v1/pods?resourceVersion=0&limit=500"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			silent, next := silenceOf(t, plainLists, c.answers...)
			require.GreaterOrEqual(t, silent, c.least)
			require.LessOrEqual(t, silent, c.most)
			require.Equal(t, c.next, next)
		})
	}
}

func TestSlowCallerIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{answers: []answer{{body: podList("5", "", "a", "b")}, {body: podEvent("ADDED", "c", "6") + podEvent("ADDED", "d", "7"), end: errReset}}}
		for event := range ListAndWatch(t.Context(), s.client(t, Pods("")), plainLists) {
			time.Sleep(time.Hour) // simulates a slow caller
			if event.Interruption != nil {
				require.Equal(t, errReset, event.Interruption.Err)
				return
			}
		}
	})
}

// The time that the caller needs for an object must not look like a streaming list without an end.
func TestSlowCallerKeepsStreamingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{answers: []answer{{body: podEvent("ADDED", "a", "6") + podEvent("ADDED", "b", "7") + endOfInitial, end: errReset}}}
		for event := range ListAndWatch(t.Context(), s.client(t, Pods("")), nil) {
			time.Sleep(time.Hour) // simulates a slow caller
			if event.Interruption != nil {
				require.Equal(t, errReset, event.Interruption.Err)
				return
			}
		}
	})
}

// TestWakeEndsDelay wakes the stream right after a failure. By then, the watchdog of the failed request must have
// ended. Otherwise it would take the wake-up. The test uses a single CPU, because there the watchdog has ended only if
// the stream has waited for it.
func TestWakeEndsDelay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, c := range map[string]struct {
		err    error
		closed bool
		waits  bool
	}{
		"connection error": {err: errReset},
		"error response":   {err: &StatusError{Code: 429, RetryAfter: 24 * time.Hour}},
		"closed channel":   {err: errReset, closed: true, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, wake := &scriptedTransport{answers: []answer{{err: c.err}, {body: podList("5", "")}}}, make(chan struct{}, 1)
				begun := time.Now()
				for event := range ListAndWatch(t.Context(), s.client(t, Pods("")), &Options{NoStreamingList: true, Wake: wake}) {
					if event.Type == Synced {
						require.Equal(t, c.waits, time.Now().After(begun))
						return
					}
					if event.Interruption == nil {
						continue
					}
					stacks := make([]byte, 1<<20)
					require.NotRegexp(t, `created by (sync.\(\*WaitGroup\).Go|.*lw.guard)`, string(stacks[:runtime.Stack(stacks, true)]))
					if c.closed {
						close(wake)
					} else {
						wake <- struct{}{}
					}
				}
				t.Error("the stream ended before the list")
			})
		})
	}
}

func TestRegressedVersionRelistsLatest(t *testing.T) {
	events, s := follow(t, plainLists,
		answer{body: podList("100", "")},
		answer{body: podEvent("ADDED", "a", "101") + podEvent("ADDED", "b", "99")},
		answer{body: podList("99", "", "b")},
	)
	regressed := "INTERRUPTED " + errVersionRegressed.Error()
	require.Equal(t, []string{"LIST_STARTED @", "SYNCED @100", "WATCH_STARTED @100", "ADDED a @101", regressed + " @101", "LIST_STARTED @", "ADDED b @", "SYNCED @99"}, events)
	require.Equal(t, "/api/v1/pods?limit=500", s.requests[2])

	events, s = follow(t, plainLists,
		answer{body: podList("100", "")},
		answer{body: expiredEvent},
		answer{body: podList("99", "", "b")},
		answer{body: podList("99", "", "b")},
	)
	require.Equal(t, []string{"LIST_STARTED @", "ADDED b @", regressed + " @100", "LIST_STARTED @", "ADDED b @", "SYNCED @99"}, events[4:])
	require.Equal(t, "/api/v1/pods?limit=500", s.requests[3])
}

func TestCompareResourceVersions(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		order int
		ok    bool
	}{
		{"9", "10", -1, true}, {"10", "9", 1, true}, {"10", "11", -1, true}, {"10", "10", 0, true},
		{"a", "a", 0, false}, {"", "", 0, false}, {"1", "01", 0, false}, {"1", "", 0, false},
	} {
		order, ok := CompareResourceVersions(c.a, c.b)
		require.Equal(t, c.order, order, "order of %q and %q", c.a, c.b)
		require.Equal(t, c.ok, ok, "comparability of %q and %q", c.a, c.b)
	}
	for _, c := range []struct {
		from, to  string
		regressed bool
	}{
		{"9", "10", false}, {"10", "9", true}, {"10", "10", false}, {"11", "10", true},
		{"18446744073709551616", "18446744073709551615", true}, // too large for a uint64
		{"", "1", false}, {"1", "", false}, {"010", "9", false}, {"b", "a", false}, {"1e3", "2", false}, {"0", "1", false},
	} {
		require.Equal(t, c.regressed, versionRegressed(c.from, c.to), "regression from resourceVersion %q to %q", c.from, c.to)
	}
}

// A watch that closes right after its streaming list has not worked yet, however long the list took.
func TestLongStreamingListIsNotHealthyWatch(t *testing.T) {
	r := newStreamingHarness(t, Options{})
	r.listFails(errReset)
	r.opens().receives("3")
	r.pass(provenAfter)
	require.Nil(t, r.marks("7"))
	require.Equal(t, &Interruption{Err: ErrWatchClosed, Delay: 2 * firstDelay}, r.closes(), "the list must not reset the backoff")
	require.False(t, r.server.streamsProven())
}

// Another stream may still have a healthy watch that began before the server stopped supporting streaming lists. The
// end of that watch must not enable streaming lists again.
func TestHealthyWatchDoesNotEnableRejectedStreamingLists(t *testing.T) {
	for name, reject := range map[string]func(*machineHarness){
		"rejection": func(r *machineHarness) { r.listFails(status(422)) },
		"misplaced end": func(r *machineHarness) {
			r.opens().receives("2")
			r.marks("7")
			r.receives("3")
		},
	} {
		t.Run(name, func(t *testing.T) {
			older := newStreamingHarness(t, Options{}).opens()
			older.receives("3")
			older.marks("7")
			newer := newStreamingHarness(t, Options{})
			newer.server = older.server
			reject(newer)
			require.False(t, older.server.streamsLists())
			older.pass(healthyAfter)
			older.fails(status(410))
			require.Equal(t, listing, older.state)
		})
	}
}
