package lwtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const recorded = `{"type":"LIST_STARTED","time":"2026-11-24T10:00:00Z","resource":"configmaps","collection":"shop/configmaps"}
{"type":"ADDED","time":"2026-11-24T10:00:00Z","resource":"configmaps","collection":"shop/configmaps","key":"shop/a","resourceVersion":"70","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"70"},"data":{"n":"1"}}}
{"type":"SYNCED","time":"2026-11-24T10:00:00Z","resource":"configmaps","collection":"shop/configmaps","resourceVersion":"71"}
{"type":"MODIFIED","time":"2026-11-24T10:00:01Z","resource":"configmaps","key":"shop/a","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"72"},"data":{"n":"2"}}}
{"type":"ADDED","time":"2026-11-24T10:00:02Z","resource":"/apis/shop.example.com/v1beta1/carts","key":"c","object":{"kind":"Cart","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"c"}}}
{"type":"DELETED","time":"2026-11-24T10:00:02Z","resource":"nodes","key":"unlisted","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"unlisted"}}}
`

func TestPlayWritesRecordedEvents(t *testing.T) {
	s := start(t, nil)
	require.NoError(t, s.Play(strings.NewReader(recorded)))
	_, objects := s.State("configmaps")
	require.Len(t, objects, 1)
	require.Equal(t, "2", objects["shop/a"].Get("data.n").String())
	require.NotEqual(t, "u", objects["shop/a"].GetUID())
	_, objects = s.State("carts.shop.example.com")
	require.Len(t, objects, 1)
	response, err := http.Get(s.URL + "/apis/shop.example.com/v1beta1/carts/c")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)

	deletion := strings.Replace(strings.Split(recorded, "\n")[3], "MODIFIED", "DELETED", 1)
	require.NoError(t, s.Play(strings.NewReader(deletion)))
	_, objects = s.State("configmaps")
	require.Empty(t, objects)
}

func TestPlayWritesRBACNames(t *testing.T) {
	s := start(t, nil)
	const role = `{"type":"ADDED","resource":"clusterroles.rbac.authorization.k8s.io","object":{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"system:node"}}}`
	require.NoError(t, s.Play(strings.NewReader(role)))
	_, objects := s.State("clusterroles.rbac.authorization.k8s.io")
	require.Contains(t, objects, "system:node")
}

func TestPlayRepeatsInterruptions(t *testing.T) {
	s := start(t, nil)
	require.NoError(t, s.Play(strings.NewReader(recorded)))
	for relist, code := range map[string]int{"": http.StatusOK, `,"relist":true`: http.StatusGone} {
		version, _ := s.State("configmaps")
		_, err := s.Put("nodes", `{"metadata":{"generateName":"n"}}`)
		require.NoError(t, err)
		response, err := http.Get(s.URL + "/api/v1/pods?watch=1")
		require.NoError(t, err)
		require.NoError(t, s.Play(strings.NewReader(`{"type":"INTERRUPTED","resource":"pods","error":"reset"`+relist+`}`)))
		_, err = response.Body.Read(make([]byte, 1))
		require.Error(t, err, "the watch must be disconnected")
		require.NoError(t, response.Body.Close())
		response, err = http.Get(s.URL + "/api/v1/pods?resourceVersion=" + version + "&resourceVersionMatch=Exact&limit=1")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, code, response.StatusCode)
	}
}

func TestPlayRejectsOtherFiles(t *testing.T) {
	s := start(t, nil)
	require.ErrorContains(t, s.Play(strings.NewReader(recorded+"oops")), "play event 7 of the recording: ")
	require.ErrorContains(t, s.Play(strings.NewReader(`{"type":"ADDED","resource":"pods","object":[]}`)), "play event 1 of the recording: ")
}
