package lwtest

import (
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// internal/testkit/scenarios compares responses to Bindings with those of kube-apiserver.

func TestWatchesReportBindings(t *testing.T) {
	s := start(t, nil)
	_, err := s.Put("pods", `{"metadata":{"name":"p","namespace":"t"},"status":{"conditions":[
		{"type":"Ready","status":"False"},{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`)
	require.NoError(t, err)
	w := openWatch(t, s.URL+"/api/v1/pods?watch=1")
	w.expect("ADDED p")
	a := request(t, "POST", s.URL+"/api/v1/namespaces/t/pods/p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`)
	require.Equal(t, http.StatusCreated, a.Code, a.Body)
	e := w.next()
	require.Equal(t, "MODIFIED p", e.String())
	require.Regexp(t, `"spec":\{"nodeName":"n"\},"status":\{"conditions":\[\{"status":"False","type":"Ready"\},`+
		`\{"lastProbeTime":null,"lastTransitionTime":"[^"]+","status":"True","type":"PodScheduled"\}\]\}`, e.line)
}

func TestUpdateAfterBindingNamesOnlyKnownManagers(t *testing.T) {
	s := start(t, nil)
	_, err := s.Put("pods", `{"metadata":{"name":"p","namespace":"t"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	require.NoError(t, err)
	a := request(t, "POST", s.URL+"/api/v1/namespaces/t/pods/p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`)
	require.Equal(t, http.StatusCreated, a.Code, a.Body)
	pod, err := s.Put("pods", `{"metadata":{"name":"p","namespace":"t","labels":{"a":"b"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
	require.NoError(t, err)
	for entry := range pod.Get("metadata.managedFields").Elements() {
		require.NotEmpty(t, entry.Get("manager").String(), entry.Raw())
		require.NotEmpty(t, entry.Get("time").String(), entry.Raw())
	}
}

func TestConcurrentPutsOfOneObjectSucceed(t *testing.T) {
	s := start(t, nil)
	for round := range 200 {
		var puts sync.WaitGroup
		for range 4 {
			puts.Go(func() {
				_, err := s.Put("configmaps", configMap("a-"+strconv.Itoa(round), "v"))
				assert.NoError(t, err)
			})
		}
		puts.Wait()
	}
}

func TestGroupWithoutVersions(t *testing.T) {
	s := start(t, nil)
	require.NotPanics(t, func() { s.group("gone.example.com") }, "a concurrent request may delete the last CustomResourceDefinition of a group")
}

func TestOnlyPodsAreBound(t *testing.T) {
	s := start(t, nil)
	put(t, s, configMap("a", "v"))
	for _, path := range []string{"configmaps/a/binding", "pods/a/status", "pods/a/binding/b"} {
		a := request(t, "POST", s.URL+"/api/v1/namespaces/t/"+path, `{"metadata":{"name":"a"},"target":{"name":"n"}}`)
		require.Equal(t, http.StatusNotFound, a.Code, path)
	}
	require.Contains(t, get(t, s.URL+"/api/v1").Body, `"name":"pods/binding"`)
	require.Contains(t, get(t, s.URL+"/api", "Accept", kubectlAccept).Body, `"subresource":"binding"`)
}
