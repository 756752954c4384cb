package lw

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// An empty list of another kind, for example a NodeList, must not empty a store of Pods.
func TestRejectsListsOfOtherKinds(t *testing.T) {
	const item = `{"metadata":{"name":"a"}}`
	lists := map[string]string{
		"no kind":                    `{"items":[]}`,
		"items without a kind":       `{"items":[` + item + `]}`,
		"null kind":                  `{"kind":null,"apiVersion":"v1","items":[]}`,
		"another kind":               `{"kind":"Pod","apiVersion":"v1","items":[]}`,
		"Table":                      `{"kind":"Table","apiVersion":"meta.k8s.io/v1","items":[` + item + `]}`,
		"no apiVersion":              `{"kind":"PodList","items":[]}`,
		"another apiVersion":         `{"kind":"PodList","apiVersion":"apps/v1","items":[` + item + `]}`,
		"wrong kind after the items": `{"apiVersion":"v1","items":[],"kind":"Pods"}`,
	}
	for name, body := range lists {
		t.Run(name, func(t *testing.T) {
			_, _, err := list(t, body, nil)
			require.ErrorIs(t, err, invalid.ErrNotList)
		})
	}
	_, _, err := list(t, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}`, nil)
	require.NoError(t, err)
	_, _, err = listOf(t, Resource{Raw: "/things"}, `{"kind":"ThingList","apiVersion":"any/v7","items":[]}`, nil)
	require.NoError(t, err)
}

func TestListOfOtherKindDeletesNothing(t *testing.T) {
	services := `{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`
	after := `{"apiVersion":"v1","items":[{"kind":"Service","metadata":{"name":"s"}}],"kind":"ServiceList","metadata":{"resourceVersion":"9"}}`
	for _, wrong := range []string{services, after, `{"items":[]}`} {
		events, _ := follow(t, nil, answer{body: podList("5", "", "a")}, answer{body: expiredEvent}, answer{body: wrong}, answer{body: podList("9", "", "a")})
		require.Len(t, events, 9)
		require.True(t, strings.HasPrefix(events[5], "INTERRUPTED malformed response"), "%v", events)
		require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "SYNCED @9"}, events[6:])
	}
}

// A proxy may respond with 404 and later return the list of another collection.
func TestListKindIsKeptAfterNotFound(t *testing.T) {
	list := podList("9", "", "a")
	events, _ := follow(t, nil, answer{body: podList("5", "")}, answer{err: status(404)}, answer{err: status(404)},
		answer{body: strings.Replace(list, "PodList", "PeaList", 1)}, answer{body: list})
	require.Contains(t, events[len(events)-4], "another kind or apiVersion", "%v", events)
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "SYNCED @9"}, events[len(events)-3:])
}
