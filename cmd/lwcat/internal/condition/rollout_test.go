package condition

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRollout expects the same decisions as kubectl rollout status.
func TestRollout(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":2,"availableReplicas":2}}`:                              "done",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"availableReplicas":2}}`:                              "waits",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":1,"availableReplicas":2}}`:                              "waits",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":2,"availableReplicas":2}}`:                              "waits",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":2,"availableReplicas":1}}`:                              "waits",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":0},"status":{"observedGeneration":2}}`:                                                                                     "done",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2}}`:                                                                                                                       "waits",
		`{"kind":"Deployment","metadata":{"name":"web","namespace":"shop","generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Progressing","reason":"ProgressDeadlineExceeded"}]}}`: "shop/web: the rollout exceeded its progress deadline",
		`{"kind":"Deployment","metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Progressing","reason":"ProgressDeadlineExceeded"}]}}`:                                 "waits",

		`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":2}}`: "done",
		`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":1,"numberAvailable":2}}`: "waits",
		`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":1}}`: "waits",
		`{"kind":"DaemonSet","metadata":{"name":"d"},"spec":{"updateStrategy":{"type":"OnDelete"}}}`:                                                                   "d: the update strategy is not RollingUpdate, so the rollout has no status",

		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"readyReplicas":2,"updateRevision":"b","currentRevision":"b"}}`: "done",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"readyReplicas":2,"updateRevision":"b","currentRevision":"a"}}`: "waits",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"readyReplicas":1,"updateRevision":"b","currentRevision":"b"}}`: "waits",
		`{"kind":"StatefulSet","spec":{"replicas":0},"status":{}}`: "waits",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}}},"status":{"observedGeneration":1,"readyReplicas":3,"updatedReplicas":1,"updateRevision":"b","currentRevision":"a"}}`: "done",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}}},"status":{"observedGeneration":1,"readyReplicas":3,"updatedReplicas":2,"updateRevision":"b","currentRevision":"a"}}`: "waits",

		`{"kind":"Pod","metadata":{"name":"p"}}`: "p: Pod has no rollout: use condition=Ready or a field",
	} {
		done, err := rolledOut(object(t, text))
		got := map[bool]string{true: "done", false: "waits"}[done]
		if err != nil {
			got = err.Error()
		}
		require.Equal(t, want, got, text)
	}
	c, err := Parse("rollout")
	require.NoError(t, err)
	w := Watch([]*Condition{c}, 1)
	put(t, w, 0, object(t, `{"kind":"Deployment","metadata":{"name":"a","generation":1},"spec":{"replicas":0},"status":{"observedGeneration":1}}`), true)
	require.False(t, w.Holds(), "rollout must not hold before the list is complete")
	w.Complete()
	require.True(t, w.Holds())
	require.Error(t, w.Put("0", object(t, `{"kind":"Pod","metadata":{"name":"p"}}`), true))
}
