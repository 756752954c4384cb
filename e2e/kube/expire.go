package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// configMapsPath is the path of a collection that exists in every cluster. ExpireVersions checks only this collection.
const configMapsPath = "/api/v1/configmaps"

// ExpireVersions makes all earlier resourceVersions expire. It kills the API server, compacts etcd and restarts the
// API server. It returns when a watch from an earlier resourceVersion fails with 410 Expired.
//
// The API server is down during the compaction. The watch caches of the new server therefore start after the
// compaction, and no client can receive a newer resourceVersion from a bookmark during the compaction.
func (c *Cluster) ExpireVersions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	old, err := c.version(ctx)
	if err != nil {
		return fmt.Errorf("reading the current resourceVersion: %w", err)
	}
	c.Kill()
	if err := c.Compact(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	return Poll(ctx, "resourceVersion "+old+" to expire", func(ctx context.Context) error {
		return c.expired(ctx, old)
	})
}

func (c *Cluster) version(ctx context.Context) (string, error) {
	// A list without a resourceVersion returns the latest state.
	body, err := c.get(ctx, configMapsPath+"?limit=1")
	if err != nil {
		return "", err
	}
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	err = json.Unmarshal(body, &list)
	return list.Metadata.ResourceVersion, err
}

// expired returns nil if a watch from the given resourceVersion begins with an ERROR event with code 410. Otherwise, it
// returns an error.
func (c *Cluster) expired(ctx context.Context, version string) error {
	body, err := c.get(ctx, configMapsPath+"?watch=true&timeoutSeconds=1&resourceVersion="+version)
	if err != nil {
		return err
	}
	var event struct {
		Type   string
		Object struct{ Code int }
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&event); err != nil {
		return fmt.Errorf("reading the first event of the watch from resourceVersion %s: %w", version, err)
	}
	if event.Type != "ERROR" || event.Object.Code != http.StatusGone {
		return fmt.Errorf("the first event of the watch from resourceVersion %s is %s with code %d, expected ERROR with code 410", version, event.Type, event.Object.Code)
	}
	return nil
}
