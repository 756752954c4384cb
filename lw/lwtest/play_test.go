package lwtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/playback"
)

func recorded(name, version string) string {
	return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"t","uid":"u-` + name +
		`","resourceVersion":"` + version + `","creationTimestamp":"2020-01-01T00:00:00Z","managedFields":[{"manager":"m"}]}}`
}

func TestPlayedObjectsKeepTheirResourceVersions(t *testing.T) {
	s := start(t, nil)
	url := s.URL + "/api/v1/namespaces/t/configmaps"
	err := playback.Of(s).Play("configmaps", recorded("a", "500"))
	require.NoError(t, err)
	require.JSONEq(t, recorded("a", "500"), get(t, url+"/a").Body)
	require.Equal(t, "500", get(t, url).list(t).Metadata.ResourceVersion)

	watch := openWatch(t, url+"?watch=1&resourceVersion=500")
	err = playback.Of(s).Play("configmaps", recorded("a", "700"))
	require.NoError(t, err)
	e := watch.next()
	require.Equal(t, "MODIFIED 700", e.Type+" "+e.Object.Metadata.ResourceVersion)
	playback.Of(s).PlayTo("900")
	playback.Of(s).PlayTo("opaque")
	require.Equal(t, "900", get(t, url).list(t).Metadata.ResourceVersion)
}

func TestPlayReplacesPastResourceVersions(t *testing.T) {
	s := start(t, nil)
	for _, version := range []string{"500", "400", "opaque", ""} {
		err := playback.Of(s).Play("configmaps", recorded("a", version))
		require.NoError(t, err)
	}
	version, state := s.State("configmaps")
	require.Equal(t, "503", version)
	require.Equal(t, "503", state["t/a"].GetResourceVersion())
}

func TestPlayRejectsInvalidEvents(t *testing.T) {
	s := start(t, nil)
	err := playback.Of(s).Play("configmaps", `{"metadata":{}}`)
	require.ErrorContains(t, err, "the object has no name")
	err = playback.Of(s).Play("nosuch", recorded("a", "1"))
	require.Error(t, err)
}

func TestResourcesReplaceBuiltIns(t *testing.T) {
	s := start(t, &Options{Resources: []Resource{
		{Kind: "Pod", Plural: "pods", Namespaced: true}, {Group: "x.example.com", Kind: "X", Plural: "xs"},
	}})
	groups := get(t, s.URL+"/apis", "Accept", aggregated).Body + get(t, s.URL+"/api", "Accept", aggregated).Body
	require.Contains(t, groups, `"shortNames":["po"]`)
	require.Contains(t, groups, `"xs"`)
	require.NotContains(t, groups, "deployments")
	require.NotContains(t, groups, "configmaps")
	require.Equal(t, 404, get(t, s.URL+"/api/v1/configmaps").Code)
	require.Regexp(t, `^{"kind":"PodList","apiVersion":"v1","metadata":`, get(t, s.URL+"/api/v1/pods").Body)
}
