package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// configMapsPath is the path of a collection that exists in every cluster. The tests assume that it behaves like all
// other collections.
const configMapsPath = "/api/v1/configmaps"

// ExpireVersions makes all earlier resourceVersions too old for a watch, so the API server rejects them with 410
// Expired. It kills and restarts the API server, and returns when a watch from an earlier resourceVersion has failed.
//
// The history is stored in two places. The watch cache of a new API server starts at the revision of its first list.
// Resources without a watch cache use etcd's history, which starts at the last compaction.
//
// ExpireVersions compacts etcd while no API server runs. No client can then receive a bookmark with a newer
// resourceVersion, and the new watch caches start after the compaction.
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

// version returns the current resourceVersion.
func (c *Cluster) version(ctx context.Context) (string, error) {
	// A list without resourceVersion returns the latest state.
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

// expired returns nil if a watch from the resourceVersion receives an ERROR event with code 410, and an error
// otherwise.
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
		return fmt.Errorf("reading the watch from resourceVersion %s: %w", version, err)
	}
	if event.Type != "ERROR" || event.Object.Code != http.StatusGone {
		return fmt.Errorf("the watch from resourceVersion %s began with %s, code %d", version, event.Type, event.Object.Code)
	}
	return nil
}
