package clients

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// FuzzSelectors compares the embedded server with Kubernetes' selector parser. Both must reject the same selectors
// and match the same objects.
func FuzzSelectors(f *testing.F) {
	server, err := lwtest.Start(nil)
	require.NoError(f, err)
	f.Cleanup(server.Close)
	all := map[string]labels.Set{"bare": {}, "a": {"a": "b"}, "b": {"a": "", "x.io/y": "7"}, "c": {"a": "c", "in": "notin"}, "d": {"n": "10", "a": "B"}}
	for name, set := range all {
		_, err := server.Put("configmaps", map[string]any{"metadata": map[string]any{"namespace": "t", "name": name, "labels": set}})
		require.NoError(f, err)
	}
	for _, text := range []string{
		"", "a", "!a", "a=b", "a==b,in", "a!=b", "a in (b, c)", "a notin (b,,),x.io/y", " a in(b) ", "a=", "a,", ",", "a in ()", "in in (notin)",
		"n>9", "n<9,n>1", "a=b=c", "a in (b", "! a", "a b", "A/b/c", "a=b c", "notin", "n>x", "!a=b", "a\t=\nb",
	} {
		f.Add(text, "")
	}
	for _, text := range []string{"metadata.name=a", "metadata.name!=a,metadata.namespace=t", "metadata.name==a,", "x=y", "metadata.name", `metadata.name=\,`, "metadata.name=a=b", `metadata.name=a\b`} {
		f.Add("", text)
	}
	f.Fuzz(func(t *testing.T, labelText, fieldText string) {
		if strings.Contains(labelText, "\x00") {
			return // the Kubernetes parser stops at a NUL byte
		}
		answer := httptest.NewRecorder()
		query := url.Values{"labelSelector": {labelText}, "fieldSelector": {fieldText}}
		server.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/t/configmaps?"+query.Encode(), nil))
		byLabel, err := labels.Parse(labelText)
		byField, fieldErr := fields.ParseSelector(fieldText)
		if err != nil || fieldErr != nil || !known(byField) {
			require.Equal(t, http.StatusBadRequest, answer.Code, "%v, %v", err, fieldErr)
			return
		}
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		var list struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &list))
		got := map[string]bool{}
		for _, item := range list.Items {
			got[item.Metadata.Name] = true
		}
		for name, set := range all {
			want := byLabel.Matches(set) && byField.Matches(fields.Set{"metadata.name": name, "metadata.namespace": "t"})
			require.Equal(t, want, got[name], name)
		}
	})
}

// known reports whether the selector contains only fields that every resource supports.
func known(selector fields.Selector) bool {
	for _, r := range selector.Requirements() {
		if r.Field != "metadata.name" && r.Field != "metadata.namespace" {
			return false
		}
	}
	return true
}
