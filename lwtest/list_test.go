package lwtest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const configMaps = "/api/v1/namespaces/t/configmaps"

func TestBuiltinListsHaveMetadataFirstAndBareItems(t *testing.T) {
	s := start(t, nil)
	require.Equal(t, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`+"\n",
		get(t, s.URL+configMaps).Body)
	fill(t, s, 2)
	a := get(t, s.URL+configMaps)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Regexp(t, `^\{"kind":"ConfigMapList","apiVersion":"v1","metadata":\{"resourceVersion":"3"\},"items":\[\{"metadata":\{"name":"cm-1",`, a.Body)
	require.Len(t, a.list(t).Items, 2)
	require.Empty(t, a.list(t).Items[0].Kind+a.list(t).Items[0].APIVersion)
}

func TestCustomListsHaveItemsBeforeMetadata(t *testing.T) {
	s := start(t, nil)
	for i := range 2 {
		_, err := s.Put("widgets.lw.example.com", fmt.Sprintf(`{"metadata":{"name":"w%d","namespace":"t"}}`, i))
		require.NoError(t, err)
	}
	body := get(t, s.URL+"/apis/lw.example.com/v1/widgets").Body
	require.Regexp(t, `^\{"apiVersion":"lw.example.com/v1","items":\[\{"apiVersion":"lw.example.com/v1","kind":"Widget",.*\],`+
		`"kind":"WidgetList","metadata":\{"continue":"","resourceVersion":"3"\}\}\n$`, body)
	body = get(t, s.URL+"/apis/lw.example.com/v1/widgets?limit=1").Body
	require.Regexp(t, `"metadata":\{"continue":"[^"]+","remainingItemCount":1,"resourceVersion":"3"\}\}\n$`, body)
}

func TestListsOneOrAllNamespaces(t *testing.T) {
	s := start(t, nil)
	for _, namespace := range []string{"t", "t-2", "u"} {
		_, err := s.Put("configmaps", fields{"metadata": fields{"name": "a", "namespace": namespace}})
		require.NoError(t, err)
	}
	_, err := s.Put("nodes", `{"metadata":{"name":"n","namespace":"ignored"}}`)
	require.ErrorContains(t, err, "400")
	_, err = s.Put("nodes", `{"metadata":{"name":"n"}}`)
	require.NoError(t, err)
	require.Len(t, get(t, s.URL+configMaps).list(t).Items, 1)
	require.Len(t, get(t, s.URL+"/api/v1/configmaps").list(t).Items, 3)
	require.Len(t, get(t, s.URL+"/api/v1/nodes").list(t).Items, 1)
}

func TestPagesKeepTheFirstResourceVersion(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 5)
	first := get(t, s.URL+configMaps+"?limit=2").list(t)
	require.Equal(t, []string{"cm-1", "cm-2"}, first.names())
	require.Equal(t, 3, *first.Metadata.RemainingItemCount)
	token, err := base64.RawURLEncoding.DecodeString(first.Metadata.Continue)
	require.NoError(t, err)
	require.Equal(t, `{"v":"meta.k8s.io/v1","rv":6,"start":"/cm-2\u0000"}`, string(token))

	require.NoError(t, s.Delete("configmaps", "t", "cm-3"))
	put(t, s, configMap("cm-2a", "new"))
	put(t, s, configMap("cm-4", "changed"))

	second := get(t, s.URL+configMaps+"?limit=2&continue="+first.Metadata.Continue).list(t)
	require.Equal(t, []string{"cm-3", "cm-4"}, second.names())
	require.Equal(t, "v", second.Items[1].Data["k"])
	require.Equal(t, first.Metadata.ResourceVersion, second.Metadata.ResourceVersion)
	require.Equal(t, 1, *second.Metadata.RemainingItemCount)
	third := get(t, s.URL+configMaps+"?limit=2&continue="+second.Metadata.Continue).list(t)
	require.Equal(t, []string{"cm-5"}, third.names())
	require.Empty(t, third.Metadata.Continue)
	require.Nil(t, third.Metadata.RemainingItemCount)
}

func TestPagesOfAllNamespaces(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 3)
	var names []string
	token := ""
	for range 3 {
		l := get(t, s.URL+"/api/v1/configmaps?limit=1&continue="+token).list(t)
		names, token = append(names, l.names()...), l.Metadata.Continue
	}
	require.Equal(t, []string{"cm-1", "cm-2", "cm-3"}, names)
	require.Empty(t, token)
}

func TestLastPageOfASelectorMayBeEmpty(t *testing.T) {
	s := start(t, nil)
	put(t, s, configMap("a", "1", `"x":"y"`))
	put(t, s, configMap("b", "1"))
	first := get(t, s.URL+configMaps+"?limit=1&labelSelector=x").list(t)
	require.Equal(t, []string{"a"}, first.names())
	require.NotEmpty(t, first.Metadata.Continue, "the first page must have a continue token, even though the next page is empty")
	require.Nil(t, first.Metadata.RemainingItemCount, "a page of a list with a selector must not contain remainingItemCount")
	last := get(t, s.URL+configMaps+"?limit=1&labelSelector=x&continue="+first.Metadata.Continue).list(t)
	require.Empty(t, last.Items)
	require.Empty(t, last.Metadata.Continue)
}

func TestExpiredContinueReturnsAnInconsistentToken(t *testing.T) {
	s := start(t, nil)
	fill(t, s, 4)
	first := get(t, s.URL+configMaps+"?limit=2").list(t)
	put(t, s, configMap("cm-3", "changed"))
	s.Compact()
	a := get(t, s.URL+configMaps+"?limit=1&continue="+first.Metadata.Continue)
	require.Equal(t, http.StatusGone, a.Code)
	status := a.status(t)
	require.Equal(t, "Expired", status.Reason)
	token, err := base64.RawURLEncoding.DecodeString(status.Metadata.Continue)
	require.NoError(t, err)
	require.Equal(t, `{"v":"meta.k8s.io/v1","rv":-1,"start":"cm-2\u0000"}`, string(token))
	second := get(t, s.URL+configMaps+"?limit=1&continue="+status.Metadata.Continue).list(t)
	require.Equal(t, []string{"cm-3"}, second.names())
	require.Equal(t, "changed", second.Items[0].Data["k"])
	require.Equal(t, strconv.FormatInt(s.revision(), 10), second.Metadata.ResourceVersion)
	third := get(t, s.URL+configMaps+"?limit=1&continue="+second.Metadata.Continue).list(t)
	require.Equal(t, []string{"cm-4"}, third.names(), "the next page must contain the last object")
}

// The objects cm-1 to cm-3 are created at revisions 2 to 4, and cm-1 is updated at revision 5. The log is compacted at
// revision 3.
func TestListsAtAResourceVersion(t *testing.T) {
	s := start(t, &Options{freshnessWait: time.Millisecond, history: 2})
	fill(t, s, 3)
	put(t, s, configMap("cm-1", "changed"))
	token := func(json string) string { return "continue=" + base64.RawURLEncoding.EncodeToString([]byte(json)) }
	tests := []struct {
		query   string
		code    int
		version string // resourceVersion of the list
		items   int
		message string
	}{
		{"", 200, "5", 3, ""},
		{"resourceVersion=", 200, "5", 3, ""},
		{"resourceVersion=0", 200, "5", 3, ""},
		{"resourceVersion=0&limit=1", 200, "5", 3, ""},
		{"resourceVersion=2", 200, "5", 3, ""},
		{"resourceVersion=2&resourceVersionMatch=NotOlderThan", 200, "5", 3, ""},
		{"resourceVersion=2&resourceVersionMatch=NotOlderThan&limit=1", 200, "5", 1, ""},
		{"resourceVersion=3&resourceVersionMatch=Exact", 200, "3", 2, ""},
		{"resourceVersion=4&resourceVersionMatch=Exact", 200, "4", 3, ""},
		{"resourceVersion=4&limit=1", 200, "4", 1, ""}, // with a limit, resourceVersionMatch defaults to Exact
		{"resourceVersion=2&resourceVersionMatch=Exact", 410, "", 0, "The resourceVersion for the provided list is too old."},
		{"resourceVersion=2&limit=1", 410, "", 0, "too old"},
		{"resourceVersion=99", 504, "", 0, "Timeout: Too large resource version: 99, current: 5"},
		{"resourceVersion=99&resourceVersionMatch=Exact", 504, "", 0, "Too large resource version"},
		{"resourceVersion=abc", 400, "", 0, `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`},
		{"resourceVersion=-1", 400, "", 0, "invalid resource version"},
		{"limit=abc", 400, "", 0, "limit"},
		{"resourceVersionMatch=Exact", 422, "", 0, "resourceVersionMatch is forbidden unless resourceVersion is provided"},
		{"resourceVersion=0&resourceVersionMatch=Exact", 422, "", 0, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`},
		{"resourceVersion=1&resourceVersionMatch=Any", 422, "", 0, `resourceVersionMatch: Unsupported value: "Any"`},
		{"sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 422, "", 0, "sendInitialEvents is forbidden for list"},
		{"continue=x&resourceVersion=1&resourceVersionMatch=Exact", 422, "", 0, "resourceVersionMatch is forbidden when continue is provided"},
		{"continue=x&resourceVersion=1", 400, "", 0, "specifying resource version is not allowed when using continue"},
		{"continue=garbage", 400, "", 0, "invalid continue token: continue key is not valid: invalid character "},
		{"continue=!", 400, "", 0, "invalid continue token"},
		{token(`{"v":"meta.k8s.io/v2","rv":5,"start":"/x"}`), 400, "", 0, "does not recognize this encoded version"},
		{token(`{"v":"meta.k8s.io/v1","rv":0,"start":"/x"}`), 400, "", 0, "incorrect encoded start resourceVersion"},
		{token(`{"v":"meta.k8s.io/v1","rv":5,"start":""}`), 400, "", 0, "invalid continue token"},
		{token(`{"v":"meta.k8s.io/v1","rv":5,"start":"/../u/x"}`), 400, "", 0, "invalid continue token"},
		{token(`{"v":"meta.k8s.io/v1","rv":99,"start":"/x"}`), 504, "", 0, "Too large resource version"},
	}
	for _, test := range tests {
		t.Run(test.query, func(t *testing.T) {
			a := get(t, s.URL+configMaps+"?"+test.query)
			require.Equal(t, test.code, a.Code, a.Body)
			if test.code == http.StatusOK {
				l := a.list(t)
				require.Equal(t, test.version, l.Metadata.ResourceVersion)
				require.Len(t, l.Items, test.items)
				return
			}
			require.Contains(t, a.status(t).Message, test.message)
		})
	}
}

func TestFutureResourceVersionHasRetryAfter(t *testing.T) {
	s := start(t, &Options{freshnessWait: time.Millisecond})
	a := get(t, s.URL+configMaps+"?resourceVersion=999")
	require.Equal(t, "1", a.Header.Get("Retry-After"))
	require.Equal(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 999, current: 1",`+
		`"reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}`+"\n", a.Body)
}

func TestListsWaitForTheirResourceVersion(t *testing.T) {
	s := start(t, &Options{freshnessWait: testTimeout})
	go func() {
		for len(s.Requests(Lists)) == 0 {
			runtime.Gosched()
		}
		for i := range 2 {
			s.Put("configmaps", configMap(strconv.Itoa(i), "v"))
		}
	}()
	require.Len(t, get(t, s.URL+configMaps+"?resourceVersion=3").list(t).Items, 2)
}

func TestSelectors(t *testing.T) {
	s := start(t, nil)
	put(t, s, configMap("a", "", `"app":"web","tier":"front"`))
	put(t, s, configMap("b", "", `"app":"db"`))
	put(t, s, configMap("c", "", `"example.com/x":""`))
	put(t, s, configMap("d", "", `"n":"10","app":"d"`))
	labels := map[string]string{
		"":                                  "a b c d",
		"app":                               "a b d",
		"!app":                              "c",
		"app=web":                           "a",
		"app==web":                          "a",
		"app = web":                         "a",
		"app!=web":                          "b c d",
		"app in (web, db)":                  "a b",
		"app in (db),!tier":                 "b",
		"app notin (db)":                    "a c d",
		"app,tier!=front":                   "b d",
		"example.com/x=":                    "c",
		"example.com/x in ()":               "c",
		"tier in (front,back),app in (web)": "a",
		"app=web,app=db":                    "",
		"app in (web":                       "400",
		"=web":                              "400",
		"app=we b":                          "400",
		"app=web,":                          "400",
		"app>1":                             "",
		"n>9":                               "d",
		"n<11,n>1":                          "d",
		"n>x":                               "400",
		"app in (b,,),x":                    "",
		"-app":                              "400",
	}
	fieldSelectors := map[string]string{
		"":                                      "a b c d",
		"metadata.name=a":                       "a",
		"metadata.name==a":                      "a",
		"metadata.name!=a":                      "b c d",
		"metadata.namespace=t,metadata.name!=a": "b c d",
		`metadata.name!=\,,,`:                   "a b c d",
		`metadata.name=\b`:                      "400",
		"metadata.namespace=u":                  "",
		"=,metadata.name!=a":                    "b c d",
		"metadata.name":                         "400",
		"data.k=v":                              "400",
		"status.phase!=Running":                 "400",
	}
	for param, table := range map[string]map[string]string{"labelSelector": labels, "fieldSelector": fieldSelectors} {
		for selector, want := range table {
			t.Run(param+" "+selector, func(t *testing.T) {
				a := get(t, s.URL+configMaps+"?"+param+"="+url.QueryEscape(selector))
				if want == "400" {
					require.Equal(t, http.StatusBadRequest, a.Code)
					require.Equal(t, "BadRequest", a.status(t).Reason)
					return
				}
				require.Equal(t, want, strings.Join(a.list(t).names(), " "))
			})
		}
	}
	a := get(t, s.URL+configMaps+"?fieldSelector=data.k%3Dv")
	require.Equal(t, `"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"`, a.status(t).Message)
	require.Equal(t, http.StatusOK, get(t, s.URL+"/api/v1/events?fieldSelector=involvedObject.kind%3DPod,involvedObject.name%3Da,type%3DNormal").Code)
	require.Equal(t, http.StatusBadRequest, get(t, s.URL+"/api/v1/nodes?fieldSelector=metadata.namespace%3Dt").Code)
}

func TestPodsAreSelectedByNodeAndPhase(t *testing.T) {
	s := start(t, nil)
	for _, name := range []string{"a", "b"} {
		_, err := s.Put("pods", `{"metadata":{"name":"`+name+`"},"spec":{"nodeName":"n-`+name+`"},"status":{"phase":"Running"}}`)
		require.NoError(t, err)
	}
	for selector, want := range map[string][]string{
		"spec.nodeName=n-a": {"a"}, "spec.nodeName!=n-a": {"b"}, "status.phase=Running": {"a", "b"}, "status.phase=Running,spec.nodeName=n-b": {"b"},
	} {
		require.Equal(t, want, get(t, s.URL+"/api/v1/pods?fieldSelector="+url.QueryEscape(selector)).list(t).names(), selector)
	}
}
