package lw

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// tooDeep reports whether err comes from the scanner's nesting limit. The fuzz tests skip such inputs, because
// encoding/json has a higher limit.
func tooDeep(err error) bool { return err != nil && strings.Contains(err.Error(), "levels of nesting") }

// replaced returns t with invalid UTF-8 replaced by U+FFFD, as in encoding/json. The scanner keeps invalid UTF-8 in
// names and resourceVersions.
func replaced[text string | []byte](t text) string { return string([]rune(string(t))) }

func described(o *Scanned) refObject {
	return refObject{
		name: replaced(o.Name()), namespace: replaced(o.Namespace()), uid: replaced(o.UID()), version: replaced(o.ResourceVersion()),
		kind: replaced(o.bytes(o.kind)), apiVersion: replaced(o.bytes(o.apiVersion)), initialEnd: o.initialEventsEnd,
	}
}

// FuzzEnvelope checks that the scanner and encoding/json read the same event.
func FuzzEnvelope(f *testing.F) {
	first, second, _ := strings.Cut(twoEvents, "\n")
	f.Add([]byte(first))
	f.Add([]byte(second))
	f.Add([]byte(expiredEvent))
	f.Add([]byte(`{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"tr\u0075e"}},"metadata":{"resourceVersion":"7","annotations":null}}}`))
	f.Add([]byte(`{"object":{},"type":"ADDED","object":{"metadata":{"name":"a","name":null,"n\u0061me":"\ud800"},"kind":null},"type":"DELETE\u0044"}`))
	f.Add([]byte("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\xff\xff\\n\",\"Name\":1,\"namespace\":\"\xff\"}}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newScanner(bytes.NewReader(text), 0, nil)
		var scanned Scanned
		eventType, ok := s.event(&scanned)
		var got refObject
		if ok {
			got = described(&scanned)
			if s.Begin() { // FuzzEvents covers streams of several events
				return
			}
		}
		if tooDeep(s.Err()) {
			return
		}
		kind, want, accepted := refEvent(text)
		require.Equal(t, json.Valid(text) && accepted, ok && s.Err() == io.EOF, "%v", s.Err())
		if ok && s.Err() == io.EOF {
			require.Equal(t, kind, eventType.String())
			require.Equal(t, want, got)
		}
	})
}

// FuzzListBody checks that the scanner and encoding/json read the same list. It also checks that errors are short.
func FuzzListBody(f *testing.F) {
	f.Add([]byte(podList("12", "next", "a", "b")))
	f.Add([]byte(`{"apiVersion":"x/v1","items":[{"metadata":{"name":"w"}}],"kind":"WidgetList","metadata":{"remainingItemCount":7,"shardInfo":{"selector":"x"}}}`))
	f.Add([]byte(`{"items":null,"metadata":{"remainingItemCount":1e2,"continue":null},"items":[]}`))
	f.Add([]byte(`{"kind":"a","kind":null,"metadata":{"remainingItemCount":9223372036854775808},"items":[{"metadata":{"name":"\ud83d\ude42"},"x":[1,{}]}]} `))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newScanner(bytes.NewReader(text), 0, nil)
		var meta ListMeta
		var got []refObject
		var scanned Scanned
		s.list(&meta, &scanned, func() bool { got = append(got, described(&scanned)); return true })
		if tooDeep(s.Err()) {
			return
		}
		want, items, accepted := refList(text)
		require.Equal(t, json.Valid(text) && accepted, s.Err() == nil, "%v", s.Err())
		if s.Err() != nil {
			malformed, isMalformed := errors.AsType[*jsonscan.SyntaxError](s.Err())
			require.True(t, isMalformed, "%v", s.Err())
			require.Less(t, len(malformed.Found), 200)
			return
		}
		for _, field := range []*string{&meta.kind, &meta.apiVersion, &meta.ResourceVersion, &meta.Continue} {
			*field = replaced(*field)
		}
		require.Equal(t, want, meta)
		require.Equal(t, items, got)
	})
}

// FuzzObject checks that removing managedFields keeps all other members unchanged and in order.
func FuzzObject(f *testing.F) {
	f.Add([]byte(sample.Pods(1, 1)[0].JSON()))
	f.Add([]byte(`{"metadata":{"managedFields":[1],"managedFields":[2],"name":"n"}}`))
	f.Add([]byte(`{"a":1,"metadata":{"managed\u0046ields":{}},"metadata" : {"x":[ ] , "managedFields":null},"managedFields":0}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newScanner(bytes.NewReader(text), 0, nil)
		var scanned Scanned
		s.Mark()
		if s.object(&scanned); s.Err() != nil {
			return
		}
		scanned.body = s.Frame()
		raw := decoded(&scanned).Raw()
		require.True(t, json.Valid([]byte(raw)), "%s", raw)
		before, _ := refMembers(scanned.body)
		after, _ := refMembers([]byte(raw))
		require.Len(t, after, len(before))
		for i, m := range before {
			if m.name != "metadata" || isNull(m.text) {
				require.Equal(t, m, after[i])
				continue
			}
			var want []refMember
			members, _ := refMembers(m.text)
			for _, member := range members {
				if member.name != "managedFields" {
					want = append(want, member)
				}
			}
			got, _ := refMembers(after[i].text)
			require.Equal(t, want, got)
		}
	})
}

// FuzzStatus checks that each error response becomes a short error with a non-negative RetryAfter. If encoding/json
// decodes the body as a Status, the error must have the same fields.
func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"kind":"Status","status":"Failure","message":"no","reason":"Expired","code":410,"details":{"name":"a","causes":[{"reason":"r","message":"m","field":"f"}],"retryAfterSeconds":3},"metadata":{"continue":"x"}}`), 410, "7")
	f.Add([]byte(`{"kind":"Status","message":null,"code":99999999999999999999,"details":[],"kind":"Statu\u0073"}`), 500, "-1")
	f.Add([]byte(`{"kind":"Status","details":{"retryAfterSeconds":-5},"details":{"retryAfterSeconds":9223372036854775807}}`), 503, "99999999999")
	f.Add([]byte("<html>\xff"), 502, "Fri, 31 Dec 1999 23:59:59 GMT")
	f.Fuzz(func(t *testing.T, text []byte, code int, retryAfter string) {
		statusErr := ReadStatusError(code, retryAfter, bytes.NewReader(text), nil)
		require.Equal(t, code, statusErr.Code)
		require.Less(t, len(statusErr.Error()), 3*maxErrorBody+100, "the error must stay short even though each invalid byte becomes the three bytes of U+FFFD")
		p := policy{random: func() float64 { return 0 }}
		require.GreaterOrEqual(t, p.backOff(statusErr.RetryAfter), max(statusErr.RetryAfter, firstDelay))
		if _, err := ParseValue(text); tooDeep(err) {
			return
		}
		status, ok := parseStatus(text)
		want, _ := decodeMaybe(text).(map[string]any)
		require.Equal(t, want["kind"] == "Status", ok)
		if want != nil && len(text) <= maxErrorBody {
			event, isStatus := errors.AsType[*StatusError](textScanner(nil).status(&Scanned{body: bytes.TrimSpace(text)}))
			require.Equal(t, ok, isStatus)
			require.True(t, !isStatus || event.RetryAfter >= 0)
		}
		if ok {
			requireSameStatus(t, want, status)
		}
	})
}

// requireSameStatus requires that status has the same fields as want, which encoding/json decoded. It ignores members
// of want that have the wrong type.
func requireSameStatus(t *testing.T, want map[string]any, status *StatusError) {
	compare := func(from map[string]any, name, got string) {
		switch value := from[name].(type) {
		case string:
			require.Equal(t, value, got)
		case nil:
			require.Empty(t, got)
		}
	}
	compare(want, "message", status.Message)
	compare(want, "reason", status.Reason)
	details, _ := want["details"].(map[string]any)
	compare(details, "name", status.Name)
	compare(details, "group", status.Group)
	compare(details, "kind", status.Kind)
	causes, _ := details["causes"].([]any)
	require.Len(t, status.Causes, len(causes))
	for i, cause := range causes {
		cause, _ := cause.(map[string]any)
		compare(cause, "reason", status.Causes[i].Reason)
		compare(cause, "message", status.Causes[i].Message)
		compare(cause, "field", status.Causes[i].Field)
	}
	number, _ := want["code"].(json.Number)
	code, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		code = 0 // not an integer, or out of the 64-bit range
	}
	require.EqualValues(t, min(max(code, math.MinInt32), math.MaxInt32), status.Code) // the API defines code as an int32
}

// decodeMaybe decodes text with encoding/json. It returns nil if the JSON is invalid.
func decodeMaybe(text []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if !json.Valid(text) || decoder.Decode(&value) != nil {
		return nil
	}
	return value
}
