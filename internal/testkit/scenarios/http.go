package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// try sends a request as administrator and returns the status code and the body. It returns an error if the
// response is incomplete.
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

// do is like try, but fails the test after an error.
func (r *run) do(method, path, body string) (int, string) {
	r.Helper()
	code, text, err := r.try(method, path, body)
	require.NoError(r, err)
	return code, text
}

// write sends a request that must succeed and returns the body of the response.
func (r *run) write(method, path, body string) string {
	r.Helper()
	code, text := r.do(method, path, body)
	require.Less(r, code, 300, "%s %s: %s", method, path, text)
	return text
}

// server requests the list at path and returns its objects by key, without managedFields. It retries while a starting
// server responds with 429.
func (r *run) server(path string) (objects map[string]map[string]any) {
	r.eventually("the server lists "+path, func() bool {
		code, text := r.do(http.MethodGet, path, "")
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
		delete(item, "kind") // some lists omit their items' kind and apiVersion
		delete(item, "apiVersion")
		namespace, _ := metadata["namespace"].(string)
		objects[lw.Key{Namespace: namespace, Name: metadata["name"].(string)}.String()] = item
	}
	return objects
}

var errCut = errors.New("the scenario cut the connection")

// link is a transport that records the query of each request and can drop its connections.
type link struct {
	lw.Transport
	edit func(url.Values) // changes the query of each request; may be nil

	mu    sync.Mutex
	asked []url.Values
	open  context.Context         // done while the link is cut
	cut   context.CancelCauseFunc // cancels all requests in progress; new requests fail until mend is called
}

func newLink(transport lw.Transport) *link {
	l := &link{Transport: transport}
	l.mend()
	return l
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.cut = context.WithCancelCause(context.Background())
}

func (l *link) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	query, err := url.ParseQuery(req.Query)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.asked = append(l.asked, query)
	open := l.open
	l.mu.Unlock()
	if open.Err() != nil {
		return nil, errCut
	}
	changed := *req
	if l.edit != nil {
		l.edit(query)
		changed.Query = query.Encode()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(open, func() { cancel(errCut) })
	return l.Transport.Open(ctx, &changed)
}

// requests returns the number of requests with the query parameter name=value.
func (l *link) requests(name, value string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, query := range l.asked {
		if query.Get(name) == value {
			n++
		}
	}
	return n
}
