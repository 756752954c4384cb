package scenarios

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// try makes a request as the admin and reads its answer to the end.
func (r *run) try(method, path, body string) (code int, text string, err error) {
	req, err := http.NewRequestWithContext(r.ctx, method, r.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+r.AdminToken)
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	} else if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := r.Client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return res.StatusCode, string(all), err
}

// do makes a request as the admin and returns the status code and the body.
func (r *run) do(method, path, body string) (int, string) {
	r.Helper()
	code, text, err := r.try(method, path, body)
	require.NoError(r, err)
	return code, text
}

// write makes a request that must succeed.
func (r *run) write(method, path, body string) string {
	r.Helper()
	code, text := r.do(method, path, body)
	require.Less(r, code, 300, "%s %s: %s", method, path, text)
	return text
}

// server returns what the server itself lists, by key: every field but managedFields. A server that was just started
// may ask to come back later.
func (r *run) server(list string) (objects map[string]map[string]any) {
	r.eventually("the server lists "+list, func() bool {
		code, text := r.do(http.MethodGet, list, "")
		var body struct {
			Items []map[string]any `json:"items"`
		}
		require.NoError(r, json.Unmarshal([]byte(text), &body))
		require.True(r, code == http.StatusOK || code == http.StatusTooManyRequests, text)
		objects = byKey(body.Items)
		return code == http.StatusOK
	})
	return objects
}

func byKey(items []map[string]any) map[string]map[string]any {
	objects := make(map[string]map[string]any, len(items))
	for _, item := range items {
		metadata := item["metadata"].(map[string]any)
		delete(metadata, "managedFields")
		delete(item, "kind") // which the server leaves out of the items of some lists
		delete(item, "apiVersion")
		namespace, _ := metadata["namespace"].(string)
		objects[lw.Key{Namespace: namespace, Name: metadata["name"].(string)}.String()] = item
	}
	return objects
}
