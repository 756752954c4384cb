package scheduler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// rejection is an error response to a binding request.
type rejection struct {
	code    int
	message string
}

func (r *rejection) Error() string { return fmt.Sprintf("binding: %d: %s", r.code, r.message) }

// settled reports whether a retry is useless, because the Pod has a node or no longer exists.
func (r *rejection) settled() bool {
	return r.code == http.StatusConflict || r.code == http.StatusNotFound
}

// bind assigns a Pod to a node. It returns a *rejection if the server rejects the binding. After any other error, the
// result is unknown.
func (s *Scheduler) bind(ctx context.Context, p pod, node string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	type fields = map[string]string
	body, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Binding",
		"metadata": fields{"namespace": p.Namespace, "name": p.Name, "uid": p.uid}, // the uid ensures that a new Pod with the same name is not bound
		"target":   fields{"apiVersion": "v1", "kind": "Node", "name": node},
	})
	if err != nil {
		return err
	}
	path := s.config.URL + "/api/v1/namespaces/" + url.PathEscape(p.Namespace) + "/pods/" + url.PathEscape(p.Name) + "/binding"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.config.Client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	switch {
	case res.StatusCode == http.StatusCreated:
		return nil // the status code means success, even if the body is incomplete
	case err != nil:
		return err
	}
	var status struct{ Message string }
	_ = json.Unmarshal(text, &status) // leaves Message empty if the body is not a Status
	return &rejection{res.StatusCode, status.Message}
}
