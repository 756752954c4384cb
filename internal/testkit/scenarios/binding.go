package scenarios

import (
	"encoding/json"
	"net/http"

	"github.com/stretchr/testify/require"
)

// binding checks that a Pod can be bound only once, and that error responses contain the same Status as
// kube-apiserver's.
func binding(r *run) {
	pods := "/api/v1/namespaces/" + r.ns + "/pods"
	for name, gates := range map[string]string{"free": "", "gated": `"schedulingGates":[{"name":"example.com/wait"}],`} {
		r.write(http.MethodPost, pods, `{"metadata":{"name":"`+name+`","annotations":{"mine":"1"}},"spec":{`+gates+`"containers":[{"name":"c","image":"i"}]}}`)
	}
	const conflict = `Operation cannot be fulfilled on pods/binding "free": pod free is already assigned to node "n1"`
	for _, c := range []struct {
		pod, body string
		code      int
		message   string
	}{
		{"free", `{"metadata":{"name":"other"},"target":{"name":"n1"}}`, 400, "name in URL does not match name in Binding object"},
		{"free", `{"target":{"name":"n1"}}`, 400, "name in URL does not match name in Binding object"},
		{"free", `{"metadata":{"name":"free","namespace":"default"},"target":{"name":"n1"}}`, 400, "the namespace of the provided object does not match the namespace sent on the request"},
		{"free", `{"metadata":{"name":"free"},"target":{}}`, 500, "target.name: Required value"},
		{"free", `{"metadata":{"name":"free"},"target":{"kind":"Pod"}}`, 500, `[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]`},
		{"free", `{"metadata":{"name":"free","resourceVersion":"1"},"target":{"name":"n1"}}`, 409, ""},
		{"free", `{"metadata":{"name":"free","uid":"x"},"target":{"name":"n1"}}`, 409, ""},
		{"none", `{"metadata":{"name":"none"},"target":{"name":"n1"}}`, 404, `pods "none" not found`},
		{"gated", `{"metadata":{"name":"gated"},"target":{"name":"n1"}}`, 409, `Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates`},
		{"free", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"free","annotations":{"a":"b"},"labels":{"c":"d"}},"target":{"apiVersion":"v1","kind":"Node","name":"n1"}}`, 201, ""},
		{"free", `{"metadata":{"name":"free"},"target":{"name":"n1"}}`, 409, conflict},
		{"free", `{"metadata":{"name":"free"},"target":{"name":"n2"}}`, 409, conflict},
	} {
		code, text := r.do(http.MethodPost, pods+"/"+c.pod+"/binding", c.body)
		require.Equal(r, c.code, code, "%s: %s", c.body, text)
		var status struct {
			Kind, Message string
			Code          int
		}
		require.NoError(r, json.Unmarshal([]byte(text), &status))
		require.Equal(r, "Status", status.Kind)
		require.Equal(r, c.code, status.Code)
		if c.message != "" {
			require.Equal(r, c.message, status.Message)
		}
	}
	code, _ := r.do(http.MethodGet, pods+"/free/binding", "")
	require.Equal(r, http.StatusMethodNotAllowed, code)
	r.requireBound(pods)
}

// requireBound checks the fields that binding a Pod changes or preserves.
func (r *run) requireBound(pods string) {
	objects := r.server(pods)
	require.NotContains(r, objects[r.ns+"/gated"]["spec"], "nodeName")
	pod := objects[r.ns+"/free"]
	require.Equal(r, "n1", pod["spec"].(map[string]any)["nodeName"])
	metadata := pod["metadata"].(map[string]any)
	require.Equal(r, map[string]any{"mine": "1", "a": "b"}, metadata["annotations"])
	if r.minor >= 35 { // earlier servers ignore the labels
		require.Equal(r, map[string]any{"c": "d"}, metadata["labels"])
	} else {
		require.NotContains(r, metadata, "labels")
	}
	if r.minor >= 33 { // earlier Pods have no generation
		require.EqualValues(r, 1, metadata["generation"])
	} else {
		require.NotContains(r, metadata, "generation")
	}
	conditions := pod["status"].(map[string]any)["conditions"].([]any)
	require.Len(r, conditions, 1)
	condition := conditions[0].(map[string]any)
	require.NotEmpty(r, condition["lastTransitionTime"])
	delete(condition, "lastTransitionTime")
	require.Equal(r, map[string]any{"type": "PodScheduled", "status": "True", "lastProbeTime": nil}, condition)
}
