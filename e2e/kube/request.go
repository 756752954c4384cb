package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	jsonType = "application/json"
	// maxShown is the maximum number of bytes of a response body in an error message.
	maxShown = 300
)

// Do sends a request as the admin and returns the status code and the body of the response. The path starts with a
// slash and may contain a query. contentType is the media type of body, and both may be
// empty.
func (c *Cluster) Do(ctx context.Context, method, path, contentType, body string) (code int, respBody []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.AdminToken)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return send(c.client, req)
}

// send sends a request and returns the status code and the body of the response.
func send(client *http.Client, req *http.Request) (code int, body []byte, err error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		err = fmt.Errorf("reading the response to %s %s: %w", req.Method, req.URL.Path, err)
	}
	return resp.StatusCode, body, err
}

// get returns the body of the response to a GET request. It returns an error if the status code is not 200.
func (c *Cluster) get(ctx context.Context, path string) ([]byte, error) {
	code, body, err := c.Do(ctx, http.MethodGet, path, "", "")
	if err == nil && code != http.StatusOK {
		err = statusError(http.MethodGet, path, code, body)
	}
	return body, err
}

// statusError returns an error for a response with an unexpected status code.
func statusError(method, path string, code int, body []byte) error {
	if len(body) > maxShown {
		body = append(body[:maxShown:maxShown], "…"...)
	}
	return fmt.Errorf("%s %s: status %d: %s", method, path, code, bytes.TrimSpace(body))
}
