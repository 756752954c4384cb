package output

import (
	"maps"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

const web0Ready = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop","resourceVersion":"8","generation":9007199254740992},"spec":{"containers":[{"name":"b","image":"y:3"},{"name":"a","image":"x:1"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","message":"\u001b[2J"}]}}`

func TestDiff(t *testing.T) {
	const want = `12:00:00.123 ADDED pods shop/web-0 7
12:00:00.123 MODIFIED pods shop/web-0 7 → 8
  ~ metadata.generation: 9007199254740993 → 9007199254740992
  ~ spec.containers[b].image: "y:2" → "y:3"
  ~ order of spec.containers: ["a","b"] → ["b","a"]
  - spec.nodeName: "n1"
  ~ status.phase: "Pending" → "Running"
  + status.conditions: [{"type":"Ready","message":"\u001b[2J"}]
12:00:00.123 DELETED pods shop/web-0 8
`
	require.Equal(t, want, printed(t, "diff", &Options{}, added(t, "pods", web0), modified(t, "pods", web0, web0Ready), deleted(t, "pods", web0Ready)))
	require.Equal(t, "12:00:00.123 MODIFIED pods shop/web-0 7 → 8\n  ~ status.phase: \"Pending\" → \"Running\"\n",
		printed(t, "diff", &Options{Ignore: []string{"metadata", "spec", "status.conditions"}}, modified(t, "pods", web0, web0Ready)))
	require.Empty(t, printed(t, "diff", &Options{Ignore: []string{"status"}}, modified(t, "pods", web0, web0Runs)), "ignored paths are added to the default")
	require.Equal(t, "12:00:00.123 MODIFIED pods shop/web-0 7 → 8\n  ~ spec.containers[b].image: \"y:2\" → \"y:3\"\n  ~ status.phase: \"Pending\" → \"Running\"\n",
		printed(t, "diff", &Options{Only: []string{"spec.containers[*].image", "status.phase"}}, modified(t, "pods", web0, web0Ready)))
	require.Empty(t, printed(t, "diff", &Options{Only: []string{"metadata.labels"}}, modified(t, "pods", web0, web0Ready)))
	require.Empty(t, printed(t, "diff", &Options{Ignore: []string{"status", "metadata"}}, modified(t, "pods", web0, web0Runs)))
	unknown := modified(t, "pods", web0, web0Runs)
	unknown.Old = nil
	require.Equal(t, "12:00:00.123 MODIFIED pods shop/web-0 8 (previous state unknown)\n", printed(t, "diff", &Options{}, unknown))
}

func TestHTMLEscapesAreRemoved(t *testing.T) {
	require.Equal(t, `{"a":"<b>&\\u003c\n"}`, readable.Replace(`{"a":"\u003cb\u003e\u0026\\u003c\n"}`))
}

func TestDiffInColor(t *testing.T) {
	const old = `{"metadata":{"name":"x"},"a":1,"b":2}`
	const new = `{"metadata":{"name":"x"},"a":2,"c":3}`
	require.Equal(t, "\x1b[2m12:00:00.123\x1b[0m \x1b[33mMODIFIED\x1b[0m xs x  → \n"+
		"  \x1b[33m~ a: 1 → 2\x1b[0m\n  \x1b[32m+ c: 3\x1b[0m\n  \x1b[31m- b: 2\x1b[0m\n",
		printed(t, "diff", &Options{Color: true}, modified(t, "xs", old, new)))
}

func TestLine(t *testing.T) {
	const node = `{"kind":"Node","metadata":{"name":"n","creationTimestamp":"2026-11-21T11:58:00Z"},"status":{"conditions":[{"type":"Ready","status":"False"}]}}`
	const bare = `{"kind":"ConfigMap","metadata":{"name":"x","namespace":"shop","creationTimestamp":"2026-11-21T13:00:00Z"}}`
	events := []*Event{added(t, "pods", web0), modified(t, "nodes", node, node), deleted(t, "configmaps", bare)}
	require.Equal(t, ""+
		"12:00:00.123   ADDED      Pod         shop/web-0        Pending\n"+
		"12:00:00.123   MODIFIED   Node        n            2m   NotReady\n"+
		"12:00:00.123   DELETED    ConfigMap   shop/x       0s\n", printed(t, "line", &Options{}, events...))
	require.Equal(t, "\x1b[2m12:00:00.123\x1b[0m   \x1b[31mDELETED\x1b[0m    ConfigMap   shop/x   \x1b[2m0s\x1b[0m\n", printed(t, "line", &Options{Color: true}, events[2]))
}

func TestEventLine(t *testing.T) {
	const text = `{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"web-0.1","namespace":"shop"},"type":"Warning","reason":"BackOff","note":"restarting","eventTime":"2026-11-21T11:50:00.000000Z","series":{"count":4,"lastObservedTime":"2026-11-21T11:59:55.123456Z"},"regarding":{"kind":"Pod","name":"web-0"}}`
	require.Equal(t, "12:00:00.123   ADDED      5s (x4 over 10m)   Warning   BackOff   shop   pod/web-0   restarting\n",
		printed(t, "line", &Options{Namespaces: true, NoHeaders: true}, added(t, "events.events.k8s.io", text)))
}

func TestStateColumn(t *testing.T) {
	for object, want := range map[string]string{
		`{"metadata":{"deletionTimestamp":"x"},"status":{"phase":"Running"}}`:                                      "Terminating",
		`{"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`: "CrashLoopBackOff",
		`{"status":{"phase":"Running"}}`:                                  "Running",
		`{"spec":{"replicas":3},"status":{"readyReplicas":2}}`:            "2/3 ready",
		`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`:    "Ready",
		`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`: "NotReady",
		`{}`: "",
		`{"kind":"Node","spec":{"unschedulable":true},"status":{"nodeInfo":{"kubeletVersion":"v1.36.0"},"conditions":[{"type":"DiskPressure","status":"False"},{"type":"Ready","status":"True"},{"type":"Odd","status":"True"}]}}`: "Ready",
		`{"kind":"DaemonSet","status":{"numberReady":2,"desiredNumberScheduled":5}}`:                                             "2/5 ready",
		`{"kind":"StatefulSet","spec":{"replicas":3},"status":{}}`:                                                               "0/3 ready",
		`{"kind":"X","status":{"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`: "Established",
	} {
		o, err := lw.ParseObject([]byte(object))
		require.NoError(t, err)
		require.Equal(t, want, summarize(maps.Collect(o.Get("").Members())), object)
	}
}
