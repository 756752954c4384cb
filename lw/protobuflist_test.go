//go:build !js

package lw_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// A list must name its kind before its items. Otherwise items of another collection would reach a store before the list
// is rejected.
func TestProtobufListNeedsKindBeforeItems(t *testing.T) {
	service := field(1, field(1, "web")+field(6, "7"))
	kind, list := field(1, field(1, "v1")+field(2, "ServiceList")), field(2, field(1, field(2, "9"))+field(2, service))
	for name, body := range map[string]string{"kind after the items": list + kind, "no kind": list, "another kind": kind + list} {
		t.Run(name, func(t *testing.T) {
			client, err := lw.NewClient(file("k8s\x00"+body), lw.Pods(""), sizes{}, &lw.ClientOptions{Protobuf: true})
			require.NoError(t, err)
			objects := 0
			for _, failure := range client.List(t.Context(), lw.ListOptions{}).Objects {
				if err = failure; err == nil {
					objects++
				}
			}
			require.ErrorIs(t, err, lw.ErrInvalidResponse)
			require.Zero(t, objects)
		})
	}
}

// In an empty streaming list, only the kind of the bookmark shows to which collection the list belongs.
func TestProtobufStreamingListOfAnotherKindIsRejected(t *testing.T) {
	end := field(1, field(6, "9")+field(12, field(1, "k8s.io/initial-events-end")+field(2, "true")))
	for kind, want := range map[string]error{"Pod": nil, "Service": lw.ErrNotList} {
		event := field(1, "BOOKMARK") + field(2, field(1, "k8s\x00"+field(1, field(1, "v1")+field(2, kind))+field(2, end)))
		client, err := lw.NewClient(file("\x00\x00\x00"+string(rune(len(event)))+event), lw.Pods(""), sizes{}, &lw.ClientOptions{Protobuf: true})
		require.NoError(t, err)
		var last lw.EventType
		for event, failure := range client.Watch(t.Context(), lw.ListOptions{SendInitialEvents: true}) {
			last, err = event.Type, failure
		}
		require.Equal(t, lw.Synced, last)
		require.ErrorIs(t, err, want)
	}
}

// The bytes after the list belong to the message around the list, so a field of the list must not extend into them.
func TestProtobufFieldLongerThanList(t *testing.T) {
	meta := field(1, field(2, "9"))
	pod := field(2, field(1, field(1, "web-0")+field(6, "7")))
	other := field(3, "unknown")
	envelope := "k8s\x00" + field(1, field(1, "v1")+field(2, "PodList"))
	list := func(response string) (names []string, err error) {
		client, err := lw.NewClient(file(response), lw.Pods(""), sizes{}, &lw.ClientOptions{Protobuf: true})
		require.NoError(t, err)
		for pod, e := range client.List(t.Context(), lw.ListOptions{}).Objects {
			if err = e; err == nil {
				names = append(names, pod.GetName())
			}
		}
		return names, err
	}
	names, err := list(envelope + field(2, meta+pod+other))
	require.NoError(t, err)
	require.Equal(t, []string{"web-0"}, names)

	for name, text := range map[string]string{"item": meta + pod, "metadata": pod + meta, "unknown field": meta + pod + other} {
		for missing := 1; missing < 5; missing++ {
			header := field(2, text[:len(text)-missing])[:2] // the length is too small for the last field
			_, err := list(envelope + header + text)
			require.ErrorIs(t, err, lw.ErrInvalidResponse, "%s, %d bytes", name, missing)
			require.ErrorContains(t, err, "expected a field within the list, found a field longer than the list")
		}
	}
}
