//go:build js

package main

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func TestErrorsNameJavaScriptOptions(t *testing.T) {
	_, project := lw.Project("spec..nodeName")
	resource := func(r lw.Resource) error {
		_, err := lw.NewClient(answer(""), r, lw.RawCodec{}, nil)
		return err
	}
	for expected, err := range map[string]error{
		"found a larger one": errors.New("found a larger one: raise ClientOptions.MaxFrame if this is expected"),
		"the server does not complete streaming lists: set streamingLists: false":      errors.New("the server does not complete streaming lists: set Options.NoStreamingList"),
		"the collection has more than 1 objects: raise maxObjects if this is expected": tooManyObjects(t),
		"listwatch: the path \"spec..nodeName\": expected a member name at byte 5":     project,
		`listwatch: the resource pods has the invalid path segment ".."`:               resource(lw.Resource{Version: "..", Plural: "pods"}),
		"listwatch: the resource pods.a/b contains a slash":                            resource(lw.Resource{Group: "a/b", Version: "v1", Plural: "pods"}),
	} {
		require.Equal(t, expected, errorFields(err)[1])
	}
}

// tooManyObjects returns the error of an informer that may store one object but receives two.
func tooManyObjects(t *testing.T) (err error) {
	const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`
	client, err := lw.NewClient(answer(list), lw.Resource{Version: "v1", Plural: "pods"}, &rowPool{}, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	informer := cache.NewInformer(client, &lw.Options{NoStreamingList: true, Warn: func(string, ...any) {}})
	informer.LimitObjects(1)
	for event := range informer.Follow(ctx) {
		if event.Type == lw.Interrupted {
			return event.Interruption.Err
		}
	}
	return nil
}
