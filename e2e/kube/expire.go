package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// configMapsPath is a resource that every cluster has and whose watch cache stands for those of all others.
const configMapsPath = "/api/v1/configmaps"

// ExpireVersions makes every resource version that was handed out before this call too old for a watch: the API server
// answers 410 Expired. It restarts the API server by Kill and returns when it is ready and was seen to answer so.
//
// The history is in two places. A new API server's watch cache begins at the revision of its first list, and etcd's history,
// which serves resources without a watch cache, begins at its last compaction. So etcd is compacted while no API server
// runs: its clients get no bookmark with a newer version in between, and its watch caches can only begin after the
// compaction.
func (c *Cluster) ExpireVersions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	old, err := c.version(ctx)
	if err != nil {
		return fmt.Errorf("reading the present resource version: %w", err)
	}
	c.Kill()
	if err := c.Compact(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	return Poll(ctx, "resource version "+old+" to be expired", func(ctx context.Context) error {
		return c.expired(ctx, old)
	})
}

// version returns the present resource version.
func (c *Cluster) version(ctx context.Context) (string, error) {
	// Without resourceVersion a list is of the latest version.
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

// expired fails unless a watch from the version answers 410 in an ERROR event.
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
		return fmt.Errorf("reading the watch from version %s: %w", version, err)
	}
	if event.Type != "ERROR" || event.Object.Code != http.StatusGone {
		return fmt.Errorf("the watch from version %s began with %s, code %d", version, event.Type, event.Object.Code)
	}
	return nil
}
