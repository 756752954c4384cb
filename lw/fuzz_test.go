package lw

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// FuzzEvents checks that the events and the error do not depend on how the stream is split into reads. Each error must
// be a jsonscan.SyntaxError.
func FuzzEvents(f *testing.F) {
	f.Add(twoEvents)
	f.Add(podEvent("ADDED", "a", "1") + expiredEvent + "garbage")
	f.Add(`{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"managedFields":[{}]}}}`)
	f.Fuzz(func(t *testing.T, stream string) {
		whole, err := readEvents(strings.NewReader(stream))
		single, singleErr := readEvents(iotest.OneByteReader(strings.NewReader(stream)))
		require.Equal(t, whole, single)
		require.Equal(t, err, singleErr)
		if err != nil {
			require.IsType(t, &jsonscan.SyntaxError{}, err)
		}
	})
}

// FuzzList checks that the objects of a list and the error do not depend on how the body is split into reads. Each
// error must be a jsonscan.SyntaxError.
func FuzzList(f *testing.F) {
	f.Add(podList("12", "next", "a", "b"))
	f.Add(`{"apiVersion":"x/v1","items":[{"metadata":{"name":"w"}}],"kind":"WidgetList","metadata":{"remainingItemCount":7}}`)
	f.Add(`{"items":null,"metadata":null}`)
	read := func(t *testing.T, body io.Reader) (objects []string, meta ListMeta, err error) {
		client, _ := NewClient(reader{body}, Pods(""), RawCodec{}, nil)
		page := client.List(t.Context(), ListOptions{})
		for object, e := range page.Objects {
			if err = e; err == nil {
				objects = append(objects, object.Raw())
			}
		}
		return objects, page.ListMeta, err
	}
	f.Fuzz(func(t *testing.T, body string) {
		whole, meta, err := read(t, strings.NewReader(body))
		single, singleMeta, singleErr := read(t, iotest.OneByteReader(strings.NewReader(body)))
		require.Equal(t, whole, single)
		require.Equal(t, meta, singleMeta)
		require.Equal(t, err, singleErr)
		for _, object := range whole {
			_, err := ParseObject([]byte(object))
			require.NoError(t, err, "%s", object)
		}
		if err != nil {
			require.IsType(t, &jsonscan.SyntaxError{}, err)
		}
	})
}

// reader is a transport that returns a single response body.
type reader struct{ io.Reader }

func (r reader) Open(context.Context, *Request) (*Response, error) {
	return &Response{ReadCloser: io.NopCloser(r)}, nil
}
