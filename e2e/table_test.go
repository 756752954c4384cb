package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestTables checks that the embedded server and a real server return equal Tables for a custom resource, except
// for values such as UIDs.
func TestTables(t *testing.T) {
	c := shared.Get(t)
	require.NoError(t, c.CreateCRD(t.Context()))
	embedded, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(embedded.Close)
	real := tableServer{c.HTTPClient(), c.URL, c.AdminToken}
	ours := tableServer{http.DefaultClient, embedded.URL, ""}
	code, body := real.ask(t, http.MethodPost, "/api/v1/namespaces", "", `{"metadata":{"name":"tables"}}`)
	require.Equal(t, http.StatusCreated, code, body)
	const widgets = "/apis/lw.example.com/v1/namespaces/tables/widgets"
	for _, s := range []tableServer{real, ours} {
		for _, name := range []string{"a", "b"} {
			code, body := s.ask(t, http.MethodPost, widgets, "", `{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"},"spec":{"n":1}}`)
			require.Equal(t, http.StatusCreated, code, body)
		}
	}
	paths := []string{
		"", "?includeObject=None", "?includeObject=Object", "?includeObject=Metadata", "?includeObject=Bogus", "?limit=1&includeObject=Object",
		"/a", "/a?includeObject=Object", "/nosuch",
	}
	var version struct{ Minor string }
	_, body = real.ask(t, http.MethodGet, "/version", "", "")
	require.NoError(t, json.Unmarshal([]byte(body), &version))
	if version.Minor >= "34" { // earlier servers reject streaming lists of Tables
		const watch = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1&includeObject="
		paths = append(paths, watch+"Object", watch+"None")
	}
	for _, path := range paths {
		for _, accept := range []string{"application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json;as=Table;v=v1;g=other"} {
			wantCode, want := real.ask(t, http.MethodGet, widgets+path, accept, "")
			gotCode, got := ours.ask(t, http.MethodGet, widgets+path, accept, "")
			require.Equal(t, wantCode, gotCode, "%s %s: %s", path, accept, got)
			if wantCode == http.StatusNotAcceptable {
				continue // the error message of a real server lists more media types
			}
			require.Equal(t, same(t, want), same(t, got), "%s %s", path, accept)
		}
	}
}

type tableServer struct {
	client     *http.Client
	url, token string
}

func (s tableServer) ask(t *testing.T, method, path, accept, body string) (code int, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Accept", accept)
	if accept == "" {
		request.Header.Del("Accept")
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(answer)
}

// same decodes a sequence of JSON documents and replaces the values that differ between clusters.
func same(t *testing.T, text string) (documents []any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var document any
		require.NoError(t, decoder.Decode(&document), text)
		documents = append(documents, common(document))
	}
	return documents
}

var age = regexp.MustCompile(`^\d+s$`)

func common(v any) any {
	switch v := v.(type) {
	case string:
		if age.MatchString(v) {
			return "AGE"
		}
	case []any:
		for i := range v {
			v[i] = common(v[i])
		}
	case map[string]any:
		delete(v, "managedFields")
		for name, value := range v {
			switch v[name] = common(value); name {
			case "description", "resourceVersion", "uid", "creationTimestamp", "continue":
				v[name] = ""
			}
		}
	}
	return v
}
