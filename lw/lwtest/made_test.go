package lwtest

import (
	"iter"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/playback"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// makeConfigMaps yields n objects and counts how often they are rendered. Every second object has the label even.
func makeConfigMaps(n int, made *atomic.Int64) iter.Seq[playback.Made] {
	return func(yield func(playback.Made) bool) {
		for i := n - 1; i >= 0; i-- { // reverse key order
			name := "m-" + strconv.Itoa(i)
			parity := []string{"even", "odd"}[i%2]
			more := yield(playback.Made{Namespace: "t", Name: name, UID: "u-" + name, JSON: func(version string) []byte {
				made.Add(1)
				return []byte(`{"metadata":{"name":"` + name + `","namespace":"t","uid":"u-` + name + `","resourceVersion":"` + version +
					`","labels":{"parity":"` + parity + `"}},"data":{"number":"` + strconv.Itoa(i) + `"}}`)
			}})
			if !more {
				return
			}
		}
	}
}

func TestMadeObjectsAreListedLikeOthers(t *testing.T) {
	s := start(t, nil)
	url := s.URL + "/api/v1/namespaces/t/configmaps"
	var made atomic.Int64
	require.NoError(t, playback.Of(s).PlayMade("configmaps", makeConfigMaps(5, &made)))
	require.Zero(t, made.Load(), "objects are rendered only on demand")

	all := get(t, url).list(t)
	require.Len(t, all.Items, 5)
	require.EqualValues(t, 5, made.Load())
	require.Equal(t, "6", all.Metadata.ResourceVersion)
	for i, item := range all.Items {
		require.Equal(t, "m-"+strconv.Itoa(i), item.Metadata.Name)
		require.Equal(t, strconv.Itoa(i), item.Data["number"])
		require.Equal(t, strconv.Itoa(6-i), item.Metadata.ResourceVersion, "in creation order")
	}
	page := get(t, url+"?limit=2").list(t)
	require.Len(t, page.Items, 2)
	require.EqualValues(t, 7, made.Load(), "a page renders only its own objects")

	one := get(t, url+"/m-3").object(t)
	require.Equal(t, "ConfigMap v1 m-3", one.Kind+" "+one.APIVersion+" "+one.Metadata.Name)
	require.Len(t, get(t, url+"?labelSelector=parity%3Dodd").list(t).Items, 2)
	require.Contains(t, get(t, url+"/m-3", "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Body, `"labels":{"parity":"odd"}`)

	watch := openWatch(t, url+"?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan")
	for i := range 5 {
		e := watch.next()
		require.Equal(t, "ADDED m-"+strconv.Itoa(i), e.Type+" "+e.Object.Metadata.Name)
		require.Equal(t, "ConfigMap", e.Object.Kind)
	}
	require.Equal(t, "BOOKMARK", watch.next().Type)
}

func TestMadeObjectsCanBeChanged(t *testing.T) {
	s := start(t, nil)
	url := s.URL + "/api/v1/namespaces/t/configmaps"
	var made atomic.Int64
	require.NoError(t, playback.Of(s).PlayMade("configmaps", makeConfigMaps(3, &made)))
	watch := openWatch(t, url+"?watch=1&resourceVersion=4")
	_, err := s.Put("configmaps", `{"metadata":{"name":"m-1","namespace":"t"},"data":{"number":"one"}}`)
	require.NoError(t, err)
	before := made.Load()
	require.Equal(t, "one", get(t, url+"/m-1").object(t).Data["number"])
	require.Equal(t, "u-m-1", get(t, url+"/m-1").object(t).Metadata.UID)
	require.Equal(t, before, made.Load())
	require.NoError(t, s.Delete("configmaps", "t", "m-2"))
	for _, want := range []string{"MODIFIED m-1 5", "DELETED m-2 6"} {
		e := watch.next()
		require.Equal(t, want, e.Type+" "+e.Object.Metadata.Name+" "+e.Object.Metadata.ResourceVersion)
	}
	require.Len(t, get(t, url).list(t).Items, 2)
}

func TestPlayMadeRejectsExistingAndUnknownNames(t *testing.T) {
	s := start(t, nil)
	var made atomic.Int64
	_, err := s.Create("configmaps", `{"metadata":{"name":"m-1","namespace":"t"}}`)
	require.NoError(t, err)
	var status *lw.StatusError
	require.ErrorAs(t, playback.Of(s).PlayMade("configmaps", makeConfigMaps(3, &made)), &status)
	require.Equal(t, "AlreadyExists", status.Reason)
	require.ErrorAs(t, playback.Of(s).PlayMade("nothings", makeConfigMaps(3, &made)), &status)
	require.Equal(t, "NotFound", status.Reason)
}
