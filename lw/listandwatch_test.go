package lw

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// plainLists disables streaming lists, because most scripts contain only ordinary list responses.
var plainLists = &Options{NoStreamingList: true}

// follow runs ListAndWatch until the script ends. It returns the events as strings.
func follow(t *testing.T, opts *Options, answers ...answer) (events []string, s *scriptedTransport) {
	return followResource(t, Pods(""), "", opts, answers...)
}

// followResource runs a stream with the given answers. If resumeFrom is not empty, the stream resumes from it.
func followResource(t *testing.T, resource Resource, resumeFrom string, opts *Options, answers ...answer) (events []string, s *scriptedTransport) {
	if opts == nil {
		opts = plainLists
	}
	synctest.Test(t, func(t *testing.T) {
		s = &scriptedTransport{answers: answers}
		for event := range Resume(t.Context(), s.client(t, resource), Held{ResourceVersion: resumeFrom}, opts) {
			text := event.Type.String()
			switch {
			case event.Interruption != nil && event.Interruption.Err == errHang:
				return // the script has ended
			case event.Interruption != nil:
				text += " " + event.Interruption.Err.Error()
			case event.Object != nil:
				text += " " + event.Object.GetName()
			}
			events = append(events, text+" @"+event.ResourceVersion)
		}
	})
	return events, s
}

func TestListAndWatch(t *testing.T) {
	events, s := follow(t, &Options{LabelSelector: "app=web", FieldSelector: "spec.nodeName=n1", PageSize: 2, NoStreamingList: true},
		answer{body: podList("5", "next", "a")},
		answer{body: podList("5", "", "b")},
		answer{body: podEvent("MODIFIED", "a", "6") + podEvent("DELETED", "b", "7")},
		answer{body: `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}`, end: errReset},
		answer{body: expiredEvent},
		answer{body: podList("12", "")},
	)
	require.Equal(t, []string{
		"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @5",
		"WATCH_STARTED @5", "MODIFIED a @6", "DELETED b @7", "INTERRUPTED the server closed the watch cleanly @7",
		"WATCH_STARTED @7", "BOOKMARK @9", "INTERRUPTED connection reset @9",
		"WATCH_STARTED @9", "INTERRUPTED the server answered 410 Expired: too old resource version: 5 (9) @9",
		"LIST_STARTED @", "SYNCED @12",
	}, events)
	const selectors = "labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3Dn1&"
	require.Equal(t, []string{
		"/api/v1/pods?" + selectors + "resourceVersion=0&limit=2",
		"/api/v1/pods?" + selectors + "limit=2&continue=next",
		"/api/v1/pods?watch=1&" + selectors + "resourceVersion=5",
		"/api/v1/pods?watch=1&" + selectors + "resourceVersion=7",
		"/api/v1/pods?watch=1&" + selectors + "resourceVersion=9",
		"/api/v1/pods?" + selectors + "resourceVersion=9&limit=2&resourceVersionMatch=NotOlderThan",
		"/api/v1/pods?watch=1&" + selectors + "resourceVersion=12",
	}, s.requests)
}

func TestListStartedPrecedesFirstObject(t *testing.T) {
	whole := podList("5", "", "a", "b")
	events, _ := follow(t, nil,
		answer{err: errReset},
		answer{body: "<html>"},
		answer{body: whole[:len(whole)-20], end: errReset},
		answer{body: whole},
	)
	require.Equal(t, []string{
		"INTERRUPTED connection reset @",
		"INTERRUPTED malformed response at byte 0: expected a list, found '<' (HTML? the response may come from a proxy or a login page) @",
		"LIST_STARTED @", "ADDED a @", "INTERRUPTED connection reset @",
		"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @5",
	}, events)
}

// After a malformed event, the stream must resume from the last valid event. After a second malformed event in a row,
// it must relist.
func TestMalformedWatchEventLosesNothing(t *testing.T) {
	events, s := follow(t, nil,
		answer{body: podList("5", "")},
		answer{body: podEvent("ADDED", "a", "6") + `{"type":"ADDED","object":nonsense}`},
		answer{body: `{"type":"ADDED","object":nonsense}`},
		answer{body: podList("7", "", "a", "b")},
	)
	const garbage = "INTERRUPTED malformed response at byte "
	require.Equal(t, []string{
		"LIST_STARTED @", "SYNCED @5", "WATCH_STARTED @5", "ADDED a @6", garbage + "130: expected an object, found 'n' @6",
		"WATCH_STARTED @6", garbage + "25: expected an object, found 'n' @6",
		"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @7",
	}, events)
	require.Equal(t, "/api/v1/pods?resourceVersion=6", s.requests[3])
}

func TestStopOnEndsTheSequence(t *testing.T) {
	events, s := follow(t, &Options{StopOn: IsPermanent, NoStreamingList: true}, answer{err: status(503)}, answer{err: status(403)}, answer{body: podList("1", "")})
	require.Equal(t, []string{"INTERRUPTED the server answered 503 @", "INTERRUPTED the server answered 403 @"}, events)
	require.Len(t, s.requests, 2)
}

func TestServerErrorInWatchIsRetriedThenRelisted(t *testing.T) {
	events, _ := follow(t, nil,
		answer{body: podList("5", "")}, answer{body: faultEvent}, answer{body: faultEvent}, answer{body: podList("6", "")})
	require.Equal(t, []string{
		"LIST_STARTED @", "SYNCED @5", "WATCH_STARTED @5", "INTERRUPTED the server answered 500 InternalError: etcd is unwell @5",
		"WATCH_STARTED @5", "INTERRUPTED the server answered 500 InternalError: etcd is unwell @5", "LIST_STARTED @", "SYNCED @6",
	}, events)
}

func TestWaitsForReportedDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retryAfter := &StatusError{Code: 429, RetryAfter: time.Minute}
		s := &scriptedTransport{answers: []answer{{err: retryAfter}, {err: errReset}, {body: podList("1", "")}}}
		var waited, began = time.Duration(0), time.Now()
		for event := range ListAndWatch(t.Context(), s.client(t, Pods("")), plainLists) {
			if event.Type == ListStarted {
				break
			}
			require.Equal(t, waited, time.Since(began))
			waited += event.Interruption.Delay
		}
		require.Equal(t, waited, time.Since(began))
		require.GreaterOrEqual(t, waited, time.Minute+firstDelay)
	})
}

func TestCancellationEndsEveryRequestAndDelay(t *testing.T) {
	list := answer{body: podList("5", "")}
	waits := map[string][]answer{
		"opening a list":       {{err: errHang}},
		"reading a list":       {{body: podList("5", "")[:40], end: errHang}},
		"opening a watch":      {list, {err: errHang}},
		"reading a watch":      {list, {body: podEvent("ADDED", "a", "6"), end: errHang}},
		"delay before a list":  {{err: &StatusError{Code: 429, RetryAfter: time.Hour}}},
		"delay before a watch": {list, {err: &StatusError{Code: 429, RetryAfter: time.Hour}}},
	}
	for name, answers := range waits {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				began := time.Now()
				time.AfterFunc(time.Minute, func() { cancel(errors.New("enough")) })
				s := &scriptedTransport{answers: answers}
				for event := range ListAndWatch(ctx, s.client(t, Pods("")), plainLists) {
					require.NoError(t, ctx.Err(), "the stream must not yield %v after the cancellation", event.Type)
				}
				require.Equal(t, time.Minute, time.Since(began))
				require.Len(t, s.requests, len(answers))
			})
		})
	}
}

func TestCallerCanStopAtEveryEvent(t *testing.T) {
	answers := []answer{{body: podList("5", "", "a")}, {body: podEvent("ADDED", "b", "6"), end: errReset}, {body: expiredEvent}, {body: podList("7", "", "a")}}
	all, _ := follow(t, nil, answers...)
	require.Len(t, all, 11)
	for stop := 1; stop <= len(all); stop++ {
		synctest.Test(t, func(t *testing.T) {
			s := &scriptedTransport{answers: answers}
			seen := 0
			for range ListAndWatch(t.Context(), s.client(t, Pods("")), plainLists) {
				if seen++; seen == stop {
					break
				}
			}
			require.Equal(t, stop, seen)
		})
	}
}

func TestSecondIterationStartsWithList(t *testing.T) {
	s := &scriptedTransport{answers: []answer{{body: podList("5", "")}, {body: podList("6", "")}}}
	stream := ListAndWatch(t.Context(), s.client(t, Pods("")), plainLists)
	for _, want := range []string{"5", "6"} {
		for event := range stream {
			if event.Type == Synced {
				require.Equal(t, want, event.ResourceVersion)
				break
			}
		}
	}
}

func TestResumeStartsWithWatch(t *testing.T) {
	events, s := followResource(t, Pods(""), "5", nil, answer{body: podEvent("ADDED", "a", "6"), end: errReset})
	require.Equal(t, []string{"WATCH_STARTED @5", "ADDED a @6", "INTERRUPTED connection reset @6"}, events)
	require.Equal(t, []string{"/api/v1/pods?watch=1&resourceVersion=5", "/api/v1/pods?watch=1&resourceVersion=6"}, s.requests)

	events, s = followResource(t, Pods(""), "5", nil, answer{body: expiredEvent}, answer{body: podList("9", "", "a")})
	require.Equal(t, []string{
		"WATCH_STARTED @5", "INTERRUPTED the server answered 410 Expired: too old resource version: 5 (9) @5", "LIST_STARTED @", "ADDED a @", "SYNCED @9",
	}, events)
	require.Equal(t, []string{
		"/api/v1/pods?watch=1&resourceVersion=5", "/api/v1/pods?resourceVersion=5", "/api/v1/pods?watch=1&resourceVersion=9",
	}, s.requests)
}
