package lwtest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// wireTable holds the fields of Tables that the tests check.
type wireTable struct {
	Kind, APIVersion  string
	Metadata          struct{ ResourceVersion, Continue string }
	ColumnDefinitions []struct {
		Name, Type string
		Priority   int
	}
	Rows []struct {
		Cells  []any
		Object *wireObject
	}
}

func (a answer) table(t testing.TB) (table wireTable) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Code, a.Body)
	require.NoError(t, json.Unmarshal([]byte(a.Body), &table), a.Body)
	require.Equal(t, "Table meta.k8s.io/v1", table.Kind+" "+table.APIVersion)
	return table
}

var asTable = []string{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}

func TestTables(t *testing.T) {
	s := start(t, nil)
	define(t, s, sample.Definition("things.example.com", "v1", "Thing",
		`[{"name":"Size","type":"integer","jsonPath":".spec.size"},{"name":"Owner","jsonPath":"spec.owner.name","priority":1}]`))
	for _, object := range []string{`{"metadata":{"name":"a"},"spec":{"size":9007199254740993,"owner":{"name":"x"}}}`, `{"metadata":{"name":"b"}}`} {
		_, err := s.Put("things.example.com", object)
		require.NoError(t, err)
	}
	path := s.URL + "/apis/example.com/v1/things"
	body := get(t, path+"?includeObject=None", asTable...).Body
	require.Equal(t, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"4"},"columnDefinitions":[`+
		`{"name":"Name","type":"string","format":"name","description":"","priority":0},`+
		`{"name":"Size","type":"integer","format":"","description":"","priority":0},`+
		`{"name":"Owner","type":"string","format":"","description":"","priority":1}],`+
		`"rows":[{"cells":["a",9007199254740993,"x"],"object":null},{"cells":["b",null,null],"object":null}]}`+"\n", body)

	page := get(t, path+"?limit=1&includeObject=Object", asTable...).table(t)
	require.NotEmpty(t, page.Metadata.Continue)
	require.Equal(t, "Thing", page.Rows[0].Object.Kind)
	require.Equal(t, "PartialObjectMetadata", get(t, path, asTable...).table(t).Rows[0].Object.Kind)
	single := get(t, s.URL+"/apis/example.com/v1/namespaces/default/things/a?includeObject=Object", asTable...).table(t)
	require.Equal(t, "3", single.Metadata.ResourceVersion)
	require.Equal(t, "a", single.Rows[0].Object.Metadata.Name)

	a := get(t, path+"?includeObject=x", asTable...)
	require.Equal(t, http.StatusBadRequest, a.Code)
	require.Contains(t, a.status(t).Message, `Unable to convert to Table as requested: includeObject: Invalid value: "x"`)
	require.Equal(t, http.StatusOK, get(t, path+"?includeObject=x").Code, "an ordinary list must ignore includeObject")
}

func TestTableWatch(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 2)
	w := openWatch(t, s.URL+configMaps+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&includeObject=Object", asTable...)
	require.Regexp(t, `^\{"type":"ADDED","object":\{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":\{"resourceVersion":"2"\},`+
		`"columnDefinitions":\[\{"name":"Name",.*\{"name":"Age","type":"string",.*\],"rows":\[\{"cells":\["cm-1","\d+s"\],"object":\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"cm-1",`, w.next().line)
	require.Regexp(t, `^\{"type":"ADDED",.*"columnDefinitions":null,"rows":\[\{"cells":\["cm-2",`, w.next().line)
	require.Equal(t, `{"type":"BOOKMARK","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"3"},"columnDefinitions":null,`+
		`"rows":[{"cells":["","\u003cunknown\u003e"],"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"3","annotations":{"k8s.io/initial-events-end":"true"}}}}]}}`+"\n", w.next().line)
}
