package condition

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRollout expects the same decisions as kubectl rollout status, and the step that the rollout waits for.
func TestRollout(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":2,"availableReplicas":2}}`:                              "",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"availableReplicas":2}}`:                              "the controller has not observed the latest change",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":1,"availableReplicas":2}}`:                              "1 out of 2 new replicas have been updated",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":2,"availableReplicas":2}}`:                              "1 old replicas are pending termination",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":2,"availableReplicas":1}}`:                              "1 of 2 updated replicas are available",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":0},"status":{"observedGeneration":2}}`:                                                                                     "",
		`{"kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2}}`:                                                                                                                       "the controller has not observed the latest change",
		`{"kind":"Deployment","metadata":{"name":"web","namespace":"shop","generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"Progressing","reason":"ProgressDeadlineExceeded"}]}}`: "shop/web: the rollout exceeded its progress deadline",
		`{"kind":"Deployment","metadata":{"generation":3},"status":{"observedGeneration":2,"conditions":[{"type":"Progressing","reason":"ProgressDeadlineExceeded"}]}}`:                                 "the controller has not observed the latest change",

		`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":2}}`: "",
		`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":1,"numberAvailable":2}}`: "1 out of 2 new replicas have been updated",
		`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":1}}`: "1 of 2 updated replicas are available",
		`{"kind":"DaemonSet","metadata":{"name":"d"},"spec":{"updateStrategy":{"type":"OnDelete"}}}`:                                                                   "d: the update strategy is not RollingUpdate, so the rollout has no status",

		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"readyReplicas":2,"updateRevision":"b","currentRevision":"b"}}`: "",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"readyReplicas":2,"updateRevision":"b","currentRevision":"a"}}`: "0 replicas are at revision b",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"readyReplicas":1,"updateRevision":"b","currentRevision":"b"}}`: "1 of 2 replicas are ready",
		`{"kind":"StatefulSet","spec":{"replicas":0},"status":{}}`: "the controller has not observed the latest change",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}}},"status":{"observedGeneration":1,"readyReplicas":3,"updatedReplicas":1,"updateRevision":"b","currentRevision":"a"}}`: "",
		`{"kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}}},"status":{"observedGeneration":1,"readyReplicas":3,"updatedReplicas":2,"updateRevision":"b","currentRevision":"a"}}`: "2 out of 3 new replicas have been updated",

		`{"kind":"Pod","metadata":{"name":"p"}}`: "p: Pod has no rollout: use condition=Ready or a field",
	} {
		got, err := rollout(object(t, text))
		if err != nil {
			got = err.Error()
		}
		require.Equal(t, want, got, text)
	}
	c, err := Parse("rollout")
	require.NoError(t, err)
	w := Watch([]*Condition{c}, 1)
	put(t, w, 0, object(t, `{"kind":"Deployment","metadata":{"name":"a","generation":1},"spec":{"replicas":0},"status":{"observedGeneration":1}}`))
	require.False(t, w.Holds(), "rollout must not hold before the list is complete")
	w.Complete()
	require.True(t, w.Holds())
	require.Error(t, w.Put("0", object(t, `{"kind":"Pod","metadata":{"name":"p"}}`)))
}
