package lw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

func list(t *testing.T, body string, end error) (names []string, meta ListMeta, err error) {
	return listOf(t, Pods(""), body, end)
}

func listOf(t *testing.T, resource Resource, body string, end error) (names []string, meta ListMeta, err error) {
	s := &scriptedTransport{answers: []answer{{body: body, end: end}}}
	page := s.client(t, resource).List(t.Context(), ListOptions{})
	for object, e := range page.Objects {
		if e != nil {
			return names, page.ListMeta, e
		}
		names = append(names, object.Kind()+" "+object.GetName())
	}
	return names, page.ListMeta, nil
}

func TestList(t *testing.T) {
	names, meta, err := list(t, podList("12", "next", "a", "b"), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"Pod a", "Pod b"}, names)
	require.Equal(t, ListMeta{ResourceVersion: "12", Continue: "next", kind: "PodList", apiVersion: "v1"}, meta)
}

// Servers send lists in several forms. For example, the metadata of a list of custom resources follows the items, and
// old servers send null instead of an empty array.
func TestListVariants(t *testing.T) {
	widgets := Resource{Group: "x", Version: "v1", Plural: "widgets"}
	names, meta, err := listOf(t, widgets, `{"apiVersion":"x/v1","items":[{"apiVersion":"x/v1","kind":"Widget","metadata":{"name":"w"}}],"kind":"WidgetList","metadata":{"continue":"","remainingItemCount":7,"resourceVersion":"3"}}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"Widget w"}, names)
	require.Equal(t, ListMeta{ResourceVersion: "3", RemainingItemCount: 7, kind: "WidgetList", apiVersion: "x/v1"}, meta)

	names, meta, err = list(t, "\n{\"kind\":\"PodList\", \"apiVersion\":\"v1\", \"metadata\":{\"resourceVersion\":\"3\"}, \"items\":null}\n", nil)
	require.NoError(t, err)
	require.Empty(t, names)
	require.Equal(t, "3", meta.ResourceVersion)

	_, meta, err = list(t, `{"kind":"PodList","apiVersion":"v1","items":[],"metadata":{"continue":null,"resourceVersion":"3"}}`, nil)
	require.NoError(t, err)
	require.Equal(t, ListMeta{ResourceVersion: "3", kind: "PodList", apiVersion: "v1"}, meta)

	_, meta, err = list(t, "{\n  \"kind\": \"PodList\",\n  \"apiVersion\": \"v1\",\n  \"items\": [],\n  \"metadata\": {\n    \"resourceVersion\": \"4\"\n  }\n}", nil)
	require.NoError(t, err)
	require.Equal(t, "4", meta.ResourceVersion)
}

func TestMalformedLists(t *testing.T) {
	cases := map[string]string{
		``:                                 "malformed response at byte 0: expected a list, found the end of the stream",
		"<html>":                           "malformed response at byte 0: expected a list, found '<' (HTML? the response may come from a proxy or a login page)",
		`{"kind":"Pod","metadata":{}}`:     `malformed response at byte 27: expected a list with items, found an object of kind "Pod"`,
		`{"items":{}}`:                     "malformed response at byte 9: expected items to be an array, found '{'",
		`{"items":[1]}`:                    "malformed response at byte 10: expected an object, found '1'",
		`{"items":[{"metadata":{}}]}`:      "malformed response at byte 10: expected an item with metadata.name, found none",
		`{"items":[]} {"items":[]}`:        "malformed response at byte 13: expected the end of the body after the list, found '{'",
		`{"items":[{"metadata":{"name":"a`: "malformed response at byte 32: expected the end of a string, found the end of the stream",
		`{"items":[],"metadata":{"resourceVersion":5}}`: "malformed response at byte 42: expected the list's resourceVersion to be a string, found '5'",
		`{"items":[],"metadata":[]}`:                    "malformed response at byte 23: expected the list's metadata to be an object, found '['",
	}
	for body, want := range cases {
		_, _, err := list(t, body, nil)
		require.EqualError(t, err, want)
		require.ErrorAs(t, err, new(*jsonscan.SyntaxError))
	}
}

func TestErrNotList(t *testing.T) {
	for body, other := range map[string]bool{
		"<!DOCTYPE html>": true, "ok": true, "[]": true, `{"major":"1"}`: true, `{"kind":"Pod","metadata":{}}`: true,
		`{"items":{}}`: true, `{"items":[{"id":1}]}`: true,
		"": false, "{": false, `{"major":"1"`: false, `{"items":`: false, `{"items":[{"metadata":{"name":"a`: false, podList("1", "", "a") + "x": false,
	} {
		_, _, err := list(t, body, nil)
		require.Error(t, err, body)
		require.Equal(t, other, errors.Is(err, ErrNotList), body)
	}
	_, _, err := list(t, "", errors.New("connection reset"))
	require.NotErrorIs(t, err, ErrNotList)
}

func TestListYieldsItemsBeforeError(t *testing.T) {
	reset := errors.New("connection reset")
	body := podList("12", "", "a", "b")
	names, _, err := list(t, body[:len(body)-20], reset)
	require.Equal(t, reset, err)
	require.Equal(t, []string{"Pod a"}, names)
	_, _, err = list(t, body, reset)
	require.Equal(t, reset, err, "an error after the last byte must be returned, because the body may be incomplete")
}

// If a caller stops iterating, the client must return at once, because the rest of the list may arrive much later.
func TestAbandonedListIsNotReadFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := podList("5", "", "a")
		s := &scriptedTransport{answers: []answer{{body: body[:len(body)-len("]}\n")], end: errHang}}}
		for range s.client(t, Pods("")).List(t.Context(), ListOptions{}).Objects {
			return
		}
	})
}

func watch(t *testing.T, body string, end error) (events []Event[*Object], err error) {
	s := &scriptedTransport{answers: []answer{{body: body, end: end}}}
	for event, e := range s.client(t, Pods("")).Watch(t.Context(), ListOptions{ResourceVersion: "1"}) {
		if e != nil {
			return events, e
		}
		events = append(events, event)
	}
	return events, nil
}

func TestWatch(t *testing.T) {
	events, err := watch(t, podEvent("ADDED", "a", "2")+podEvent("DELETED", "a", "3")+`{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}`, nil)
	require.NoError(t, err)
	require.Len(t, events, 4)
	require.Equal(t, []EventType{WatchStarted, Added, Deleted, Bookmark}, []EventType{events[0].Type, events[1].Type, events[2].Type, events[3].Type})
	require.Equal(t, "a", events[2].Object.GetName())
	require.Equal(t, []string{"1", "2", "3", "9"}, []string{events[0].ResourceVersion, events[1].ResourceVersion, events[2].ResourceVersion, events[3].ResourceVersion})
}

// counted is a transport that counts the open response bodies.
type counted struct {
	*scriptedTransport
	open int
}

func (c *counted) Open(ctx context.Context, req *Request) (*Response, error) {
	body, err := c.scriptedTransport.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	c.open++
	return &Response{ReadCloser: &countedBody{body, c}}, nil
}

type countedBody struct {
	io.ReadCloser
	by *counted
}

func (b *countedBody) Close() error {
	b.by.open--
	return b.ReadCloser.Close()
}

// The client must close every response body, whether the body is read to the end, abandoned or malformed. Otherwise
// connections would leak.
func TestClosesEveryBody(t *testing.T) {
	lists := []answer{{body: podList("5", "", "a", "b")}, {body: podList("5", "", "a", "b")}, {body: "<html>"}}
	watches := []answer{{body: podEvent("ADDED", "a", "2")}, {body: podEvent("ADDED", "a", "2")}, {body: "<html>"}}
	transport := &counted{scriptedTransport: &scriptedTransport{answers: append(lists, watches...)}}
	c, err := NewClient(transport, Pods(""), RawCodec{}, nil)
	require.NoError(t, err)
	for n := range 3 {
		for range c.List(t.Context(), ListOptions{}).Objects {
			require.Equal(t, 1, transport.open)
			if n == 1 {
				break
			}
		}
		require.Zero(t, transport.open)
	}
	for n := range 3 {
		for range c.Watch(t.Context(), ListOptions{}) {
			require.Equal(t, 1, transport.open)
			if n == 1 {
				break
			}
		}
		require.Zero(t, transport.open)
	}
	require.Len(t, transport.requests, 6)
}

func TestErrorEvents(t *testing.T) {
	events, err := watch(t, podEvent("ADDED", "a", "2")+expiredEvent, nil)
	require.Len(t, events, 2)
	require.ErrorIs(t, err, ErrExpired)
	require.EqualError(t, err, "the server answered 410 Expired: too old resource version: 5 (9)")

	_, err = watch(t, `{"type":"ERROR","object":{"kind":"Pod","metadata":{"name":"a"}}}`, nil)
	require.EqualError(t, err, "malformed response at byte 0: expected a Status in the ERROR event, found another object")
	_, err = watch(t, `{"type":"ERROR","object":{"kind":"Status","details":{"retryAfterSeconds":3},"code":429}}`, nil)
	status, ok := errors.AsType[*StatusError](err)
	require.True(t, ok)
	require.Equal(t, 3*time.Second, status.RetryAfter)
}

func TestRequests(t *testing.T) {
	cases := []struct {
		resource Resource
		list     ListOptions
		want     string
	}{
		{Pods("default"), ListOptions{}, "/api/v1/namespaces/default/pods?"},
		{Resource{Group: "apps", Version: "v1", Plural: "deployments"}, ListOptions{ResourceVersion: "0", Limit: 500}, "/apis/apps/v1/deployments?resourceVersion=0&limit=500"},
		{Resource{Version: "v1", Plural: "pods", Name: "web"}, ListOptions{FieldSelector: "a=b"}, "/api/v1/pods?fieldSelector=metadata.name%3Dweb%2Ca%3Db"},
		{Resource{Version: "v1", Plural: "pods", Name: "web"}, ListOptions{}, "/api/v1/pods?fieldSelector=metadata.name%3Dweb"},
		{Resource{Version: "v1", Plural: "pods", Name: "web"}, ListOptions{FieldSelector: `spec.x=a\,`}, "/api/v1/pods?fieldSelector=metadata.name%3Dweb%2Cspec.x%3Da%5C%2C"},
		{Resource{Version: "v1", Plural: "pods", Name: `cn=a,b\c`}, ListOptions{}, "/api/v1/pods?fieldSelector=metadata.name%3Dcn%5C%3Da%5C%2Cb%5C%5Cc"},
		{Pods(""), ListOptions{LabelSelector: "app in (a, b),ä", Continue: "a+b/c="}, "/api/v1/pods?labelSelector=app%20in%20%28a%2C%20b%29%2C%C3%A4&continue=a%2Bb%2Fc%3D"},
		{Pods(""), ListOptions{ResourceVersion: "7"}, "/api/v1/pods?resourceVersion=7"},
		{Pods(""), ListOptions{ResourceVersion: "7", Limit: 5}, "/api/v1/pods?resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan"},
		{Resource{Raw: "/custom/things?x=1"}, ListOptions{Limit: 5}, "/custom/things?x=1&limit=5"},
		{Pods("a/../b"), ListOptions{}, "/api/v1/namespaces/a%2F..%2Fb/pods?"},
	}
	for _, c := range cases {
		s := &scriptedTransport{}
		for range s.client(t, c.resource).List(t.Context(), c.list).Objects {
		}
		require.Equal(t, []string{c.want}, s.requests)
	}
	s := &scriptedTransport{}
	request := s.client(t, Pods("n")).collection.request(&ListOptions{ResourceVersion: "7", Timeout: 1500 * time.Millisecond}, true)
	require.Equal(t, &Request{Path: "/api/v1/namespaces/n/pods", Query: "watch=1&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=2", Accept: "application/json;drop=metadata.managedFields", Watch: true}, request)
	for timeout, want := range map[time.Duration]string{0: "", 1: "&timeoutSeconds=1", 2 * time.Second: "&timeoutSeconds=2", 2*time.Second + 1: "&timeoutSeconds=3"} {
		require.Equal(t, "watch=1&allowWatchBookmarks=true"+want, s.client(t, Pods("")).collection.request(&ListOptions{Timeout: timeout}, true).Query)
	}
	require.Equal(t, "pretty=false", s.client(t, Pods("")).collection.request(&ListOptions{}, false).Query, "the request must disable the indentation that browsers get by default")
}

func TestEscapeKeepsUnreservedCharacters(t *testing.T) {
	for c := range 256 {
		want := fmt.Sprintf("%%%02X", c)
		if c < 0x80 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", rune(c)) {
			want = string(rune(c))
		}
		require.Equal(t, want, escape(string([]byte{byte(c)})))
	}
}

// The Accept header must have at most 128 bytes. Otherwise browsers send a CORS preflight request.
func TestAccept(t *testing.T) {
	client := func(opts *ClientOptions) *Client[*Object] {
		c, err := NewClient(&scriptedTransport{}, Pods(""), RawCodec{}, opts)
		require.NoError(t, err)
		return c
	}
	whole := client(&ClientOptions{KeepManagedFields: true})
	require.Equal(t, "application/json", whole.collection.request(&ListOptions{}, false).Accept)
	metadata := client(&ClientOptions{MetadataOnly: true})
	list, watch := metadata.collection.request(&ListOptions{}, false).Accept, metadata.collection.request(&ListOptions{}, true).Accept
	require.Equal(t, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1;drop=metadata.managedFields", list)
	require.Equal(t, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1;drop=metadata.managedFields", watch)
	require.Less(t, len(list), 128)
}

func TestResourceStringsAndErrors(t *testing.T) {
	require.Equal(t, "kube-system/deployments.apps", Resource{Group: "apps", Version: "v1", Plural: "deployments", Namespace: "kube-system"}.String())
	require.Equal(t, "pods/web", Resource{Version: "v1", Plural: "pods", Name: "web"}.String())
	require.Equal(t, "/x", Resource{Raw: "/x"}.String())
	for want, r := range map[string]Resource{
		`lw: Resource.Raw x must begin with a slash`:                                                               {Raw: "x"},
		`lw: Resource ../pods has the invalid path segment ".."`:                                                   {Version: "v1", Plural: "pods", Namespace: ".."},
		`lw: Resource pods.. has the invalid path segment "."`:                                                     {Group: ".", Version: "v1", Plural: "pods"},
		`lw: Resource needs Plural (such as "pods") or Raw`:                                                        {Version: "v1"},
		`lw: Resource pods needs Version, such as "v1"`:                                                            {Plural: "pods"},
		`lw: Resource /pods contains a slash: split "apps/v1" into Group and Version, and use Name for an object`:  {Plural: "/pods", Version: "v1"},
		`lw: Resource pods/x contains a slash: split "apps/v1" into Group and Version, and use Name for an object`: {Plural: "pods/x", Version: "v1"},
	} {
		_, err := NewClient(&scriptedTransport{}, r, RawCodec{}, nil)
		require.EqualError(t, err, want)
	}
	_, err := NewClient[*Object](nil, Pods(""), RawCodec{}, nil)
	require.ErrorContains(t, err, "needs a transport and a codec")
	_, err = NewClient[*Object](&scriptedTransport{}, Pods(""), nil, nil)
	require.ErrorContains(t, err, "needs a transport and a codec")
}

// failing is a codec that returns an error for the object with the name "bad".
type failing struct{ RawCodec }

func (f failing) Decode(s *Scanned) (*Object, error) {
	if string(s.Name()) == "bad" {
		return nil, errors.New("spec.replicas: expected a number")
	}
	return f.RawCodec.Decode(s)
}

func TestDecodeErrorNamesObject(t *testing.T) {
	s := &scriptedTransport{answers: []answer{{body: podList("1", "", "good", "bad", "good2")}, {body: podEvent("DELETED", "bad", "7") + podEvent("ADDED", "c", "8")}}}
	c, err := NewClient(s, Pods(""), failing{}, nil)
	require.NoError(t, err)
	var objects []string
	var errs []error
	for object, err := range c.List(t.Context(), ListOptions{}).Objects {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		objects = append(objects, object.GetName())
	}
	for event, err := range c.Watch(t.Context(), ListOptions{}) {
		if err != nil {
			errs = append(errs, err)
		} else if event.Object != nil {
			objects = append(objects, event.Object.GetName())
		}
	}
	require.Equal(t, []string{"good", "good2", "c"}, objects, "the stream must deliver all objects that can be decoded")
	require.EqualError(t, errs[0], "object bad at resourceVersion 1: spec.replicas: expected a number")
	require.Equal(t, &DecodeError{Type: Deleted, Key: Key{Name: "bad"}, ResourceVersion: "7", Err: errs[0].(*DecodeError).Err}, errs[1])
}

func TestStreamContinuesAfterDecodeError(t *testing.T) {
	run := func(opts *Options, answers ...answer) (seen []string) {
		synctest.Test(t, func(t *testing.T) {
			s := &scriptedTransport{answers: answers}
			c, err := NewClient(s, Pods(""), failing{}, nil)
			require.NoError(t, err)
			traced := 0
			ctx := WithTrace(t.Context(), &Trace{Event: func(event Event[Keyed]) {
				if event.Type == DecodeFailed {
					require.NotEmpty(t, event.Err.Key)
					traced++
				}
			}})
			for event := range ListAndWatch(ctx, c, opts) {
				if event.Type == Interrupted {
					require.Equal(t, 2, traced)
					return
				}
				text := event.Type.String() + "@" + event.ResourceVersion
				if event.Err != nil {
					text += " " + event.Err.Type.String() + " " + event.Err.Key.String() + " (" + event.Err.ResourceVersion + ")"
				}
				seen = append(seen, text)
			}
		})
		return seen
	}
	watch := podEvent("MODIFIED", "bad", "10") + podEvent("ADDED", "b", "11")
	require.Equal(t, []string{
		"LIST_STARTED@", "ADDED@", "DECODE_FAILED@ ADDED bad (1)", "SYNCED@9", "WATCH_STARTED@9", "DECODE_FAILED@10 MODIFIED bad (10)", "ADDED@11",
	}, run(plainLists, answer{body: podList("9", "", "a", "bad")}, answer{body: watch}))
	require.Equal(t, []string{
		"LIST_STARTED@", "ADDED@", "DECODE_FAILED@ ADDED bad (3)", "SYNCED@9", "WATCH_STARTED@9", "DECODE_FAILED@10 MODIFIED bad (10)", "ADDED@11",
	}, run(&Options{}, answer{body: podEvent("ADDED", "a", "1") + podEvent("ADDED", "bad", "3") + endOfInitial + watch}))
}

func TestStatusErrors(t *testing.T) {
	read := func(code int, retryAfter, body string) *StatusError {
		return ReadStatusError(code, retryAfter, strings.NewReader(body), nil)
	}
	e := read(404, "", "404 page not found\n")
	require.EqualError(t, e, "the server answered 404: 404 page not found")
	require.ErrorIs(t, e, ErrNotFound)
	e = read(429, "7", "Too many requests, please try again later.\n")
	require.ErrorIs(t, e, ErrTooManyRequests)
	require.Equal(t, 7*time.Second, e.RetryAfter)
	e = read(502, "Wed, 21 Oct 2026 07:28:00 GMT", strings.Repeat("x", 1000))
	require.Zero(t, e.RetryAfter)
	require.Len(t, e.Message, 200)
	require.Equal(t, strings.Repeat("x", 199), read(502, "", strings.Repeat("x", 199)+"é").Message, "a character must not be cut")
	e = read(410, "", `{"kind":"Status","reason":"Expired","code":410,"details":{"name":"n","group":"g","kind":"k","retryAfterSeconds":2}}`)
	require.Equal(t, &StatusError{Code: 410, Reason: "Expired", Name: "n", Group: "g", Kind: "k", RetryAfter: 2 * time.Second}, e)
	require.Equal(t, 2*time.Second, read(503, "0", `{"kind":"Status","details":{"retryAfterSeconds":2}}`).RetryAfter, "a Retry-After header of zero must be ignored")
	require.True(t, IsPermanent(read(401, "", "")) && IsPermanent(read(403, "", "")) && IsPermanent(e) == false)
	status, ok := parseStatus([]byte(`{"kind":"Status","code":4294967706}`)) // the low 32 bits of this code are 410
	require.True(t, ok)
	require.Equal(t, math.MaxInt32, status.Code)
	for seconds, want := range map[string]time.Duration{ // the results must not depend on the size of int
		"-5": 0, "2147483648": math.MaxInt32 * time.Second, "9223372037": math.MaxInt32 * time.Second, "9223372036854775807": math.MaxInt32 * time.Second,
	} {
		text := `{"kind":"Status","details":{"retryAfterSeconds":` + seconds + `}}`
		require.Equal(t, want, read(503, "", text).RetryAfter, seconds)
		_, err := watch(t, `{"type":"ERROR","object":`+text+`}`, nil)
		status, ok := errors.AsType[*StatusError](err)
		require.True(t, ok)
		require.Equal(t, want, status.RetryAfter, seconds)
	}

	for _, body := range []string{
		`{"kind":"Status","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"m"}]}}`,
		`{"kind":"Status","reason":"Timeout","details":{"causes":[{"message":"Too large resource version"}]}}`,
		`{"kind":"Status","message":"Timeout: Too large resource version: 9, current: 2"}`,
	} {
		require.ErrorIs(t, read(504, "1", body), ErrResourceVersionTooLarge)
	}
	const text = `","message":"Too large resource version: 9, current: 2"}`
	require.ErrorIs(t, read(500, "", `{"kind":"Status","reason":"Timeout`+text), ErrResourceVersionTooLarge)
	require.NotErrorIs(t, read(500, "", `{"kind":"Status","reason":"InternalError`+text), ErrResourceVersionTooLarge)
	require.NotErrorIs(t, read(504, "", `{"kind":"Status","reason":"Timeout","message":"etcd"}`), ErrResourceVersionTooLarge)
	require.NotErrorIs(t, read(500, "", ""), io.EOF)
	_, ok = parseStatus([]byte(`{"kind":"Pod"}`))
	require.False(t, ok)
}
