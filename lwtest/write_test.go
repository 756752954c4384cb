package lwtest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCreateSetsServerFields(t *testing.T) {
	s := start(t, nil)
	url := s.URL + "/api/v1/namespaces/t/configmaps"
	body := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"mine","resourceVersion":"0",
		"creationTimestamp":null,"labels":{"app":"demo"}},"data":{"k":"v"}}`
	a := request(t, "POST", url+"?fieldManager=tester", body)
	require.Equal(t, http.StatusCreated, a.Code, a.Body)
	o := a.object(t)
	require.Equal(t, strconv.FormatInt(s.revision(), 10), o.Metadata.ResourceVersion)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, o.Metadata.UID)
	created, err := time.Parse(time.RFC3339, o.Metadata.CreationTimestamp)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), created, time.Minute)
	require.Zero(t, o.Metadata.Generation, "a ConfigMap must not have a generation")
	require.Len(t, o.Metadata.ManagedFields, 1)
	entry := o.Metadata.ManagedFields[0]
	require.Equal(t, "tester", entry.Manager)
	require.JSONEq(t, `{"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`, string(entry.FieldsV1))
	require.Equal(t, a.Body, get(t, url+"/a").Body)
}

func TestBuiltinObjectsBeginWithKindVersionAndMetadata(t *testing.T) {
	s := start(t, nil)
	_, err := s.Put("pods", `{"spec":{},"apiVersion":"v1","aaa":1,"metadata":{"labels":{"b":"1","a":"2"},"name":"p","namespace":"t"},"kind":"Pod"}`)
	require.NoError(t, err)
	body := get(t, s.URL+"/api/v1/namespaces/t/pods/p").Body
	require.Regexp(t, `^\{"kind":"Pod","apiVersion":"v1","metadata":\{"name":"p","namespace":"t","uid":"[^"]+",`+
		`"resourceVersion":"2","generation":1,"creationTimestamp":"[^"]+","labels":\{"a":"2","b":"1"\},`+
		`"managedFields":\[\{"manager":"lwtest","operation":"Update","apiVersion":"v1","time":"[^"]+","fieldsType":"FieldsV1",`+
		`"fieldsV1":\{.*\}\}\]\},"aaa":1,"spec":\{\}\}\n$`, body)
}

func TestCustomObjectsAreSorted(t *testing.T) {
	s := start(t, nil)
	_, err := s.Put("widgets.lw.example.com", `{"spec":{"n":1},"metadata":{"name":"w","namespace":"t"}}`)
	require.NoError(t, err)
	body := get(t, s.URL+"/apis/lw.example.com/v1/namespaces/t/widgets/w").Body
	require.Regexp(t, `^\{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":\{"creationTimestamp":"[^"]+","generation":1,`+
		`"managedFields":\[\{"apiVersion":"lw.example.com/v1","fieldsType":"FieldsV1","fieldsV1":\{.*\},"manager":"lwtest",`+
		`"operation":"Update","time":"[^"]+"\}\],"name":"w","namespace":"t","resourceVersion":"2","uid":"[^"]+"\},"spec":\{"n":1\}\}\n$`, body)
}

func TestNumbersKeepEveryDigit(t *testing.T) {
	s := start(t, nil)
	const numbers = `{"a":12345678901234567,"b":1.50,"c":1e400,"d":0.1000000000000000055511151231257827}`
	_, err := s.Put("widgets.lw.example.com", `{"metadata":{"name":"w","namespace":"t"},"spec":`+numbers+`}`)
	require.NoError(t, err)
	url := s.URL + "/apis/lw.example.com/v1/namespaces/t/widgets/w"
	require.Contains(t, get(t, url).Body, `"spec":`+numbers)
	a := request(t, "PATCH", url, `{"metadata":{"labels":{"x":"y"}}}`, "Content-Type", "application/merge-patch+json")
	require.Contains(t, a.Body, `"spec":`+numbers)
}

func TestGenerateNameAppendsASuffix(t *testing.T) {
	s := start(t, nil)
	names := map[string]bool{}
	for range 10 {
		o := request(t, "POST", s.URL+"/api/v1/namespaces/t/configmaps", `{"metadata":{"generateName":"g-"}}`).object(t)
		require.Regexp(t, `^g-[a-z0-9]{5}$`, o.Metadata.Name)
		names[o.Metadata.Name] = true
	}
	require.Len(t, names, 10)
}

func TestStaleWritesConflict(t *testing.T) {
	s := start(t, nil)
	first := put(t, s, configMap("a", "1"))
	second := put(t, s, configMap("a", "2"))
	url := s.URL + "/api/v1/namespaces/t/configmaps/a"
	body := func(version string) string {
		return `{"metadata":{"name":"a","resourceVersion":"` + version + `"},"data":{"k":"3"}}`
	}
	a := request(t, "PUT", url, body(first.GetResourceVersion()))
	require.Equal(t, http.StatusConflict, a.Code)
	require.Equal(t, "Conflict", a.status(t).Reason)
	a = request(t, "PATCH", url, body(first.GetResourceVersion()), "Content-Type", "application/merge-patch+json")
	require.Equal(t, http.StatusConflict, a.Code, "a patch with an old resourceVersion must cause a conflict")
	a = request(t, "DELETE", url, `{"preconditions":{"resourceVersion":"`+first.GetResourceVersion()+`"}}`)
	require.Equal(t, http.StatusConflict, a.Code)
	_, err := s.Put("configmaps", strings.Replace(body(first.GetResourceVersion()), `"name"`, `"namespace":"t","name"`, 1))
	require.ErrorContains(t, err, "409 Conflict")
	require.Equal(t, http.StatusOK, request(t, "PUT", url, body(second.GetResourceVersion())).Code)
}

func TestCreateRejectsAResourceVersion(t *testing.T) {
	s := start(t, nil)
	const body = `{"metadata":{"name":"a","namespace":"t","resourceVersion":"7"}}`
	require.Equal(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"resourceVersion should not be set on objects to be created","code":500}`+"\n",
		request(t, "POST", s.URL+configMaps, body).Body)
	_, err := s.Put("configmaps", body)
	require.ErrorContains(t, err, "404 NotFound", "replacing an object that no longer exists must fail")
}

func TestUnchangedWritesKeepTheResourceVersion(t *testing.T) {
	s := start(t, nil)
	first := put(t, s, configMap("a", "1"))
	require.Equal(t, first, put(t, s, configMap("a", "1")))
	a := request(t, "PATCH", s.URL+"/api/v1/namespaces/t/configmaps/a", `{"data":{"k":"1"}}`,
		"Content-Type", "application/merge-patch+json", "User-Agent", "someone-else/1")
	require.Equal(t, first.GetResourceVersion(), a.object(t).Metadata.ResourceVersion)
	require.Equal(t, first.GetResourceVersion(), strconv.FormatInt(s.revision(), 10))
}

func TestMergePatch(t *testing.T) {
	s := start(t, nil)
	put(t, s, `{"metadata":{"name":"a","namespace":"t","labels":{"x":"1","y":"2"}},"data":{"k":"1","l":"2"}}`)
	a := request(t, "PATCH", s.URL+"/api/v1/namespaces/t/configmaps/a",
		`{"metadata":{"labels":null},"data":{"k":null,"m":"3"},"extra":{"deep":{"er":null,"x":1}}}`,
		"Content-Type", "application/merge-patch+json")
	require.Equal(t, http.StatusOK, a.Code)
	o := a.object(t)
	require.Empty(t, o.Metadata.Labels)
	require.Equal(t, map[string]string{"l": "2", "m": "3"}, o.Data)
	require.Contains(t, a.Body, `"extra":{"deep":{"x":1}}`)
}

func TestManagersOwnTheirLastChanges(t *testing.T) {
	s := start(t, nil)
	put(t, s, `{"metadata":{"name":"a","namespace":"t"},"data":{"k":"1","l":"2","gone":"3"}}`)
	for _, patch := range []string{`{"data":{"k":"x","gone":null}}`, `{"data":{"m":"y"}}`} {
		request(t, "PATCH", s.URL+"/api/v1/namespaces/t/configmaps/a?fieldManager=other", patch, "Content-Type", "application/merge-patch+json")
	}
	o := get(t, s.URL+"/api/v1/namespaces/t/configmaps/a").object(t)
	owners := map[string]string{}
	for _, entry := range o.Metadata.ManagedFields {
		owners[entry.Manager] = string(entry.FieldsV1)
	}
	require.Equal(t, map[string]string{
		"lwtest": `{"f:data":{".":{},"f:l":{}}}`,
		"other":  `{"f:data":{"f:k":{},"f:m":{}}}`,
	}, owners)
}

func TestGenerationCountsChangesToTheSpec(t *testing.T) {
	s := start(t, nil)
	url := s.URL + "/apis/apps/v1/namespaces/t/deployments/d"
	_, err := s.Put("deployments.apps", `{"metadata":{"name":"d","namespace":"t"},"spec":{"replicas":1}}`)
	require.NoError(t, err)
	for _, step := range []struct {
		patch string
		want  int
	}{
		{`{"spec":{"replicas":2}}`, 2},
		{`{"status":{"replicas":2}}`, 2},
		{`{"metadata":{"labels":{"a":"b"},"generation":9}}`, 2},
		{`{"spec":null}`, 3},
	} {
		o := request(t, "PATCH", url, step.patch, "Content-Type", "application/merge-patch+json").object(t)
		require.Equal(t, step.want, o.Metadata.Generation, step.patch)
	}
}

func TestDeleteReturnsTheObject(t *testing.T) {
	s := start(t, nil)
	o := put(t, s, configMap("a", "1"))
	url := s.URL + "/api/v1/namespaces/t/configmaps/a"
	a := request(t, "DELETE", url, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`)
	require.Equal(t, http.StatusOK, a.Code)
	require.Contains(t, o.Raw(), a.status(t).Details.UID)
	require.Contains(t, a.Body, `"status":"Success"`)
	require.Equal(t, http.StatusNotFound, get(t, url).Code)
	require.Equal(t, http.StatusNotFound, request(t, "DELETE", url, "").Code)
}

func TestRejectedRequests(t *testing.T) {
	s := start(t, nil)
	put(t, s, configMap("a", "1"))
	const cms, a = "/api/v1/namespaces/t/configmaps", "/api/v1/namespaces/t/configmaps/a"
	const merge, proto = "application/merge-patch+json", "application/vnd.kubernetes.protobuf"
	tests := map[string]struct {
		method, path, body, media string
		code                      int
		message                   string
	}{
		"duplicate name":                   {"POST", cms, `{"metadata":{"name":"a"}}`, "", 409, `configmaps "a" already exists`},
		"missing name":                     {"POST", cms, `{}`, "", 422, `ConfigMap "" is invalid: metadata.name: Required value`},
		"missing name of a Deployment":     {"POST", "/apis/apps/v1/namespaces/t/deployments", `{}`, "", 422, `Deployment.apps "" is invalid`},
		"name with a slash":                {"POST", cms, `{"metadata":{"name":"a/b"}}`, "", 422, `ConfigMap "a/b" is invalid: metadata.name: Invalid value: "a/b"`},
		"invalid namespace":                {"POST", "/api/v1/namespaces/A/configmaps", `{"metadata":{"name":"a"}}`, "", 422, `metadata.namespace: Invalid value: "A"`},
		"name that is only dots":           {"POST", cms, `{"metadata":{"name":".."}}`, "", 422, "a lowercase RFC 1123 subdomain must consist"},
		"wrong kind":                       {"POST", cms, `{"kind":"Pod","metadata":{"name":"x"}}`, "", 400, "does not match the expected kind"},
		"wrong apiVersion":                 {"POST", cms, `{"apiVersion":"v2","metadata":{"name":"x"}}`, "", 400, "does not match the expected API version"},
		"wrong namespace":                  {"POST", cms, `{"metadata":{"name":"x","namespace":"u"}}`, "", 400, "the namespace of the provided object"},
		"wrong name":                       {"PUT", a, `{"metadata":{"name":"b"}}`, "", 400, "the name of the object (b)"},
		"wrong uid":                        {"PUT", a, `{"metadata":{"uid":"b"}}`, "", 409, "Precondition failed: UID"},
		"invalid JSON":                     {"POST", cms, `{`, "", 400, "unexpected EOF"},
		"data after the object":            {"POST", cms, `{} {}`, "", 400, "unexpected data after the JSON object"},
		"null body":                        {"POST", cms, `null`, "", 400, "not an object"},
		"metadata as a string":             {"POST", cms, `{"metadata":""}`, "", 400, "metadata is not an object"},
		"labels as an array":               {"POST", cms, `{"metadata":{"name":"x","labels":[]}}`, "", 400, "metadata.labels is not an object"},
		"label as a number":                {"POST", cms, `{"metadata":{"name":"x","labels":{"a":1}}}`, "", 400, "is not a string"},
		"oversized body":                   {"POST", cms, `{"a":"` + strings.Repeat("x", maxBody) + `"}`, "", 413, "limit is"},
		"protobuf":                         {"POST", cms, "k8s\x00", proto, 415, `in client-go, set ContentType`},
		"replacement as protobuf":          {"PUT", a, "k8s\x00", proto, 415, "application/json"},
		"deletion with a protobuf body":    {"DELETE", a, "k8s\x00", proto, 415, "application/json"},
		"deletion with invalid JSON":       {"DELETE", a, "{", "", 400, "unexpected EOF"},
		"wrong UID in a precondition":      {"DELETE", a, `{"preconditions":{"uid":"b"}}`, "", 409, "Precondition failed: UID"},
		"JSON patch":                       {"PATCH", a, "[]", "application/json-patch+json", 415, merge},
		"strategic merge patch":            {"PATCH", a, "{}", "application/strategic-merge-patch+json", 415, merge},
		"patch of a missing object":        {"PATCH", cms + "/x", "{}", merge, 404, `configmaps "x" not found`},
		"replacement of a missing object":  {"PUT", cms + "/x", "{}", "", 404, `configmaps "x" not found`},
		"deletion of a collection":         {"DELETE", cms, "", "", 405, "does not allow this method"},
		"creation with a name in the path": {"POST", a, "{}", "", 405, "does not allow this method"},
		"creation without a namespace":     {"POST", "/api/v1/configmaps", "{}", "", 405, "does not allow this method"},
		"unsupported method":               {"OPTIONS", a, "", "", 405, "does not allow this method"},
		"missing Deployment":               {"GET", "/apis/apps/v1/namespaces/t/deployments/x", "", "", 404, `deployments.apps "x" not found`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := s.revision()
			var header []string
			if test.media != "" {
				header = []string{"Content-Type", test.media}
			}
			got := request(t, test.method, s.URL+test.path, test.body, header...)
			status := got.status(t)
			require.Equal(t, test.code, got.Code, got.Body)
			require.Equal(t, test.code, status.Code)
			require.Contains(t, status.Message, test.message)
			require.NotEmpty(t, status.Reason)
			require.Equal(t, before, s.revision())
		})
	}
}

// For every input from a client, the server must send a response, and all stored objects must stay readable.
func FuzzWrites(f *testing.F) {
	s := start(f, nil)
	f.Add([]byte(`{"metadata":{"name":"a","labels":{"x":"y"},"managedFields":[1]},"data":{"k":"v"}}`))
	f.Add([]byte(`{"metadata":{"generateName":"g-","finalizers":null,"managedFields":[{"fieldsV1":1}]},"spec":{"n":1e999}}`))
	f.Add([]byte(`{"kind":1,"apiVersion":{},"metadata":{"name":2,"namespace":[],"resourceVersion":3,"uid":4,"generation":"x"},"status":"\ud800"}`))
	f.Add([]byte(`{"metadata":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for resource, url := range map[string]string{
			"configmaps":             s.URL + configMaps,
			"widgets.lw.example.com": s.URL + "/apis/lw.example.com/v1/namespaces/t/widgets",
		} {
			for _, write := range [][3]string{
				{"POST", "", "application/json"}, {"PUT", "/a", "application/json"},
				{"PATCH", "/a", "application/merge-patch+json"}, {"DELETE", "/b", "application/json"},
			} {
				code := request(t, write[0], url+write[1], string(body), "Content-Type", write[2]).Code
				require.Contains(t, []int{200, 201, 400, 404, 409, 422, 500}, code)
			}
			_, objects := s.State(resource)
			require.Len(t, get(t, url).list(t).Items, len(objects))
			for _, o := range objects {
				require.Equal(t, get(t, url+"/"+o.GetName()).Body, o.Raw()+"\n")
				require.NoError(t, s.Delete(resource, o.GetNamespace(), o.GetName()))
			}
		}
	})
}
