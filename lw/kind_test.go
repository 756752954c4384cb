package lw

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		"metadata":                   `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}`,
		"no apiVersion":              `{"kind":"PodList","items":[]}`,
		"another apiVersion":         `{"kind":"PodList","apiVersion":"apps/v1","items":[` + item + `]}`,
		"wrong kind after the items": `{"apiVersion":"v1","items":[],"kind":"Pods"}`,
	}
	for name, body := range lists {
		t.Run(name, func(t *testing.T) {
			_, _, err := list(t, body, nil)
			require.ErrorIs(t, err, ErrNotList)
		})
	}
	_, _, err := listOf(t, Resource{Raw: "/things"}, `{"kind":"ThingList","apiVersion":"any/v7","items":[]}`, nil)
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

// After a 404 for a custom resource, the client accepts another kind. The kind of a built-in resource never changes, so
// the client must still reject a list of another kind.
func TestListKindIsKeptAfterNotFound(t *testing.T) {
	list := podList("9", "", "a")
	events, _ := follow(t, nil, answer{body: podList("5", "")}, answer{err: status(404)}, answer{err: status(404)},
		answer{body: strings.Replace(list, "PodList", "PeaList", 1)}, answer{body: list})
	require.Contains(t, events[len(events)-4], "another kind or apiVersion", "%v", events)
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "SYNCED @9"}, events[len(events)-3:])
}

// customWidgets is a custom resource. The client must learn its kind from the server.
var customWidgets = Resource{Group: "x", Version: "v1", Plural: "widgets"}

func customList(kind, version string, names ...string) string {
	list := strings.Replace(podList(version, "", names...), "PodList", kind+"List", 1)
	return strings.Replace(list, `"apiVersion":"v1"`, `"apiVersion":"x/v1"`, 1)
}

func resourceList(kind string) string {
	return `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"x/v1","resources":[{"name":"widgets/status","kind":"Other"},{"name":"widgets","kind":"` + kind + `"}]}`
}

// customEvents follows the custom resource until the script ends. It returns the events and the requests of the script.
func customEvents(t *testing.T, resumeFrom string, answers ...answer) (events, requests []string) {
	t.Helper()
	events, s := followResource(t, customWidgets, resumeFrom, nil, answers...)
	return events, s.requests[:len(answers)]
}

// A CustomResourceDefinition may be deleted and created with another kind. The resource list confirms the new kind.
func TestServerConfirmsAnotherKind(t *testing.T) {
	events, requests := customEvents(t, "", answer{body: customList("Widget", "5", "a")}, answer{body: expiredEvent},
		answer{body: customList("Gadget", "9", "b")}, answer{body: resourceList("Gadget")}, answer{body: expiredEvent}, answer{body: customList("Gadget", "12", "b")})
	require.Equal(t, "/apis/x/v1?", requests[3])
	require.Contains(t, events, "SYNCED @9")
	require.Contains(t, events, "SYNCED @12", "the new kind must be remembered")
	require.NotContains(t, requests[5:], "/apis/x/v1?")
}

// A CustomResourceDefinition can give its lists any kind. The items then show that the list belongs to the resource.
func TestListKindOfDefinitionIsAccepted(t *testing.T) {
	const item = `{"kind":"Widget","apiVersion":"x/v1","metadata":{"name":"a","resourceVersion":"1"}}`
	list := func(kind, version, items string) answer {
		return answer{body: `{"apiVersion":"x/v1","items":[` + items + `],"kind":"` + kind + `","metadata":{"resourceVersion":"` + version + `"}}`}
	}
	expired, confirmed := answer{body: expiredEvent}, answer{body: resourceList("Widget")}
	for _, kind := range []string{"Catalog", "MyWidgetList"} {
		for _, answers := range [][]answer{
			{list(kind, "5", item), expired, list(kind, "9", item)},
			{list(kind, "5", item), expired, list(kind, "9", "")},
			{list(kind, "5", ""), expired, list(kind, "9", "")},
			{list(kind, "5", ""), expired, list(kind, "9", item), confirmed},
		} {
			events, _ := customEvents(t, "", answers...)
			require.Contains(t, events, "SYNCED @9", "%v", events)
		}
		empty := strings.Replace(endOfInitial, `"Pod"`, `"Widget","apiVersion":"x/v1"`, 1)
		events, _ := followResource(t, customWidgets, "", &Options{}, answer{body: empty}, list(kind, "9", ""))
		require.Contains(t, events, "SYNCED @9", "%v", events)
		events, _ = customEvents(t, "5", expired, list(kind, "9", item), confirmed)
		require.Contains(t, events, "SYNCED @9", "%v", events)
		events, _ = customEvents(t, "5", expired, list(kind, "9", strings.ReplaceAll(item, "Widget", "Portal")), confirmed)
		require.NotContains(t, events, "SYNCED @9", "%v", events)
	}
}

// The client must reject a proxy's list of another kind no matter how often it arrives, because the server never
// confirms that kind.
func TestForeignListIsNeverConfirmed(t *testing.T) {
	portal := answer{body: customList("Portal", "7")}
	events, requests := customEvents(t, "", answer{body: customList("Widget", "5", "a")}, answer{body: expiredEvent},
		portal, answer{body: resourceList("Widget")}, portal, answer{err: errReset}, portal, answer{err: status(404)}, answer{body: customList("Widget", "9", "a")})
	require.Len(t, requests, 9)
	require.NotContains(t, events, "SYNCED @7")
	require.Contains(t, events, "SYNCED @9")
}

// If a captive portal answers first, the client must still accept the list of the real collection.
func TestFirstListOfAnotherKindIsCorrected(t *testing.T) {
	events, _ := customEvents(t, "", answer{body: customList("Portal", "5")}, answer{body: expiredEvent},
		answer{body: customList("Widget", "9", "a")}, answer{body: resourceList("Widget")})
	require.Contains(t, events, "SYNCED @9")
}

// After a 404, the collection may return with another kind. The client must accept the new kind.
func TestKindMayChangeAfterNotFound(t *testing.T) {
	for name, discovery := range map[string]answer{"resource list": {body: resourceList("Gadget")}, "no discovery": {err: status(404)}} {
		t.Run(name, func(t *testing.T) {
			events, _ := customEvents(t, "", answer{body: customList("Widget", "5", "a")}, answer{err: status(404)},
				answer{body: customList("Gadget", "9", "b")}, discovery)
			require.Contains(t, events, "SYNCED @9")
		})
	}
}

// A client that resumes from a saved state has not seen a list yet, so it does not know the kind of the collection.
// Even then, an empty list of another collection must not delete all objects.
func TestResumedStreamRejectsForeignLists(t *testing.T) {
	empty := answer{body: customList("Portal", "7")}
	events, _ := customEvents(t, "5", answer{body: expiredEvent}, empty, answer{body: resourceList("Widget")}, answer{body: customList("Widget", "9", "a")}, answer{body: resourceList("Widget")})
	require.NotContains(t, events, "SYNCED @7")
	require.Contains(t, events, "SYNCED @9")

	event := strings.Replace(strings.Replace(podEvent("ADDED", "a", "6"), "Pod", "Widget", 1), `"v1"`, `"x/v1"`, 1)
	events, requests := customEvents(t, "5", answer{body: event + expiredEvent}, answer{body: customList("Widget", "9", "a")})
	require.Contains(t, events, "SYNCED @9")
	require.Len(t, requests, 2, "the kind of an event needs no confirmation")

	services := answer{body: strings.Replace(podList("7", ""), "PodList", "ServiceList", 1)}
	events, _ = followResource(t, Pods(""), "5", nil, answer{body: expiredEvent}, services, answer{body: podList("9", "", "a")})
	require.NotContains(t, events, "SYNCED @7", "the kind of a built-in resource is known")
	require.Contains(t, events, "SYNCED @9")
}

// The same holds for a streaming list of another collection.
func TestResumedStreamRejectsForeignStreamingLists(t *testing.T) {
	widgets, confirmed := answer{body: customList("Widget", "12", "a")}, answer{body: resourceList("Widget")}
	for _, c := range []struct {
		kind, apiVersion string
		answers          []answer // the responses after the streaming list
		synced           string
	}{
		{"Widget", "x/v1", []answer{confirmed}, "SYNCED @9"},
		{"Portal", "x/v1", []answer{confirmed, widgets, confirmed}, "SYNCED @12"},
		{"Widget", "y/v1", []answer{widgets, confirmed}, "SYNCED @12"},
	} {
		head := `"kind":"` + c.kind + `","apiVersion":"` + c.apiVersion + `"`
		list := strings.NewReplacer(`"kind":"Pod","apiVersion":"v1"`, head, `"kind":"Pod"`, head).Replace(podEvent("ADDED", "a", "7") + endOfInitial)
		events, _ := followResource(t, customWidgets, "5", &Options{}, append([]answer{{body: expiredEvent}, {body: list, end: errReset}}, c.answers...)...)
		first := slices.IndexFunc(events, func(event string) bool { return strings.HasPrefix(event, "SYNCED") })
		require.Equal(t, c.synced, events[first], "%v", events)
	}
}

// An empty streaming list consists only of a bookmark. If a proxy sends such a list of another collection, the client
// must notice the wrong kind of the bookmark and keep the stored objects.
func TestForeignStreamingListDeletesNothing(t *testing.T) {
	pods := answer{body: podEvent("ADDED", "a", "7") + endOfInitial + podEvent("MODIFIED", "a", "10"), end: errReset}
	foreign := answer{body: strings.NewReplacer("Pod", "Service", `"9"`, `"12"`).Replace(endOfInitial), end: errReset}
	events, s := follow(t, &Options{}, pods, answer{body: expiredEvent}, foreign, answer{body: podList("12", "", "a")})
	require.Contains(t, s.requests[2], "sendInitialEvents=true")
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "SYNCED @12"}, events[len(events)-3:])
	require.Contains(t, events[len(events)-4], "found an object of kind \"Service\"", "%v", events)
}

// Only a client that requests metadata may accept metadata. Such a client must also accept whole objects, because some
// servers cannot convert objects to metadata.
func TestMetadataLists(t *testing.T) {
	const metadata = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":[]}`
	for name, c := range map[string]struct {
		body string
		only bool
		fits bool
	}{
		"metadata, requested":         {metadata, true, true},
		"metadata, not requested":     {metadata, false, false},
		"whole objects":               {podList("9", ""), true, true},
		"metadata with another kind":  {strings.Replace(metadata, "PartialObjectMetadataList", "PodList", 1), true, false},
		"metadata with another group": {strings.Replace(metadata, "meta.k8s.io/v1", "v1", 1), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := NewClient(&scriptedTransport{answers: []answer{{body: c.body}}}, Pods(""), RawCodec{}, &ClientOptions{MetadataOnly: c.only})
			require.NoError(t, err)
			var failure error
			for _, err := range client.List(t.Context(), ListOptions{}).Objects {
				failure = err
			}
			if c.fits {
				require.NoError(t, failure)
			} else {
				require.ErrorIs(t, failure, ErrNotList)
			}
		})
	}
}

// A resource list above the limit must not look like a broken connection.
func TestTooLargeResourceListIsReported(t *testing.T) {
	events, _ := customEvents(t, "", answer{body: customList("Widget", "5", "a")}, answer{body: expiredEvent},
		answer{body: customList("Gadget", "9", "b")}, answer{body: resourceList(strings.Repeat("x", maxDiscovery))})
	require.Equal(t, "INTERRUPTED malformed response at byte 8388608: expected a resource list of at most 8 MiB, found a larger one @5", events[len(events)-1])
}
