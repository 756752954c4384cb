package lw

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Most scenarios in this file come from the tests of other Kubernetes clients.

func TestCanceledContextSendsNoRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &scriptedTransport{answers: []answer{{body: podList("1", "")}}}
	for event := range ListAndWatch(ctx, s.client(t, Pods("")), nil) {
		t.Errorf("unexpected event: %v", event.Type)
	}
	require.Empty(t, s.requests)
}

func TestCancelByCallerEndsStream(t *testing.T) {
	answers := []answer{{body: podList("5", "", "a", "b")}, {body: podEvent("ADDED", "c", "6") + podEvent("ADDED", "d", "7")}, {body: expiredEvent}}
	all, _ := follow(t, nil, answers...)
	for stop := range all {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := &scriptedTransport{answers: answers}
			seen, requests := 0, 0
			for range ListAndWatch(ctx, s.client(t, Pods("")), plainLists) {
				require.NoError(t, ctx.Err())
				if seen++; seen == stop+1 {
					requests = len(s.requests)
					cancel()
				}
			}
			require.Equal(t, stop+1, seen)
			require.Len(t, s.requests, requests)
		})
	}
}

// While the server refuses connections, the delays grow up to a maximum.
func TestConnectionRefused(t *testing.T) {
	for failures, took := range map[int]time.Duration{5: 24800e6, 40: 50400e6 + 34*30e9} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			s := &scriptedTransport{}
			for range failures {
				s.answers = append(s.answers, answer{err: errReset})
			}
			s.answers = append(s.answers, answer{body: podList("1", "")})
			for event := range ListAndWatch(t.Context(), s.client(t, Pods("")), &Options{NoStreamingList: true, Random: func() float64 { return 0 }}) {
				if event.Type == Synced {
					break
				}
			}
			require.Equal(t, took, time.Since(began))
		})
	}
}

// A page may be empty, like the second page here, and still have a continue token.
func TestThreePages(t *testing.T) {
	events, s := follow(t, &Options{PageSize: 2, NoStreamingList: true},
		answer{body: podList("5", "one", "a", "b")}, answer{body: podList("5", "two")}, answer{body: podList("5", "", "c")})
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "ADDED b @", "ADDED c @", "SYNCED @5"}, events)
	require.Equal(t, []string{
		"/api/v1/pods?resourceVersion=0&limit=2", "/api/v1/pods?limit=2&continue=one", "/api/v1/pods?limit=2&continue=two",
	}, s.requests[:3])
}

// A server sends an ERROR event for an object that it cannot read from storage. After an administrator has deleted the
// object, lists omit it.
func TestUnreadableObject(t *testing.T) {
	const unreadable = `{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"data from the storage is not transformable",` +
		`"reason":"StoreReadError","code":500}}` + "\n"
	events, _ := follow(t, nil, answer{body: podList("5", "", "a", "b")}, answer{body: unreadable}, answer{body: unreadable}, answer{body: podList("7", "", "b")})
	const interrupted = "INTERRUPTED the server answered 500 StoreReadError: data from the storage is not transformable @5"
	require.Equal(t, []string{"WATCH_STARTED @5", interrupted, "WATCH_STARTED @5", interrupted, "LIST_STARTED @", "ADDED b @", "SYNCED @7"}, events[4:])
}

func TestRejectsTables(t *testing.T) {
	_, _, err := list(t, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":[],"rows":[]}`, nil)
	require.EqualError(t, err, `malformed response at byte 113: expected a list with items, found an object of kind "Table"`)
	_, err = watch(t, `{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"rows":[]}}`, nil)
	require.EqualError(t, err, "malformed response at byte 25: expected an object with metadata.name, found none")
}

// marking is a codec that appends " decoded" to the text of each object.
type marking struct{ RawCodec }

func (c marking) Decode(s *Scanned) (*Object, error) {
	o, err := c.RawCodec.Decode(s)
	o.raw += " decoded"
	return o, err
}

func TestCodecDecodesEveryObject(t *testing.T) {
	for _, opts := range []*Options{plainLists, {}} {
		synctest.Test(t, func(t *testing.T) {
			first := answer{body: podList("5", "", "a")}
			if !opts.NoStreamingList {
				first.body = podEvent("ADDED", "a", "5") + endOfInitial + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"10"}}}`
			}
			s := &scriptedTransport{answers: []answer{first, {body: podEvent("MODIFIED", "a", "11") + podEvent("DELETED", "a", "12")}}}
			client, err := NewClient(s, Pods(""), marking{}, nil)
			require.NoError(t, err)
			seen := 0
			for event := range ListAndWatch(t.Context(), client, opts) {
				if event.Object != nil {
					require.Equal(t, "a", event.Object.GetName())
					require.True(t, strings.HasSuffix(event.Object.Raw(), "} decoded"))
					if seen++; seen == 3 {
						break
					}
				}
			}
		})
	}
}

// Browser pages cannot read the Retry-After header, so the client must read the delay from the body.
func TestRetryAfterInBody(t *testing.T) {
	const slowDown = `{"type":"ERROR","object":{"kind":"Status","reason":"TooManyRequests","code":429,"details":{"retryAfterSeconds":40}}}`
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{answers: []answer{{body: podList("5", "")}, {body: slowDown}, {body: podEvent("ADDED", "a", "6")}}}
		for event := range ListAndWatch(t.Context(), s.client(t, Pods("")), &Options{NoStreamingList: true, Random: func() float64 { return 0 }}) {
			if event.Type == Interrupted {
				require.ErrorIs(t, event.Interruption.Err, ErrTooManyRequests)
				require.Equal(t, 40*time.Second, event.Interruption.Delay)
				require.False(t, event.Interruption.Relist)
				return
			}
		}
	})
}

// If a server repeats events, the resourceVersion decreases. The stream relists and never reports a lower
// resourceVersion.
func TestRepeatedEventsCauseRelist(t *testing.T) {
	events, _ := follow(t, nil,
		answer{body: podList("5", "")},
		answer{body: podEvent("ADDED", "a", "6") + podEvent("MODIFIED", "a", "7"), end: errReset},
		answer{body: podEvent("ADDED", "a", "6") + podEvent("MODIFIED", "a", "7")},
		answer{body: podList("7", "", "a")})
	require.Equal(t, []string{
		"WATCH_STARTED @5", "ADDED a @6", "MODIFIED a @7", "INTERRUPTED connection reset @7",
		"WATCH_STARTED @7", "INTERRUPTED " + errVersionRegressed.Error() + " @7", "LIST_STARTED @", "ADDED a @", "SYNCED @7",
	}, events[2:])
}
