package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// engineParameters are the query parameters that the engine sets. They are removed from paths because users copy paths
// from logs.
var engineParameters = []string{
	"watch", "resourceVersion", "resourceVersionMatch", "timeout", "timeoutSeconds", "allowWatchBookmarks", "sendInitialEvents",
	"limit", "continue",
}

// fromPath returns the resource at a path. It also accepts the path of one object and legacy watch paths such as
// /api/v1/watch/pods.
func fromPath(raw string, o *resourceOptions) (resource lw.Resource, err error) {
	path, query, _ := strings.Cut(raw, "?")
	resource.Raw, resource.Name, err = splitPath(strings.TrimSuffix(path, "/"))
	values, queryErr := url.ParseQuery(query)
	switch {
	case cmp.Or(err, queryErr) != nil:
		return resource, fmt.Errorf("%s: %w", raw, cmp.Or(err, queryErr))
	case resource.Raw == "":
		return resource, fmt.Errorf("%s is not the path of a collection: expected a path such as /api/v1/pods", raw)
	case values.Has("labelSelector") && o.labels != "", values.Has("fieldSelector") && (o.fields != "" || resource.Name != ""):
		return resource, fmt.Errorf("%s already contains a selector: omit the flag, because servers accept only one selector", raw)
	}
	for _, name := range engineParameters {
		values.Del(name)
	}
	query = values.Encode()
	if query != "" {
		resource.Raw += "?" + query
	}
	return resource, nil
}

// splitPath splits an API path into the path of the collection and the name of one object. It returns other paths
// unchanged.
func splitPath(path string) (collection, object string, err error) {
	parts := strings.Split(path, "/") // the first part is empty
	root := 3                         // index of pods in /api/v1/pods
	if len(parts) > 1 && parts[1] == "apis" {
		root = 4 // index of deployments in /apis/apps/v1/deployments
	}
	if len(parts) <= root || parts[1] != "api" && parts[1] != "apis" {
		return path, "", nil
	}
	if parts[root] == "watch" {
		parts = slices.Delete(parts, root, root+1)
	}
	plural := root // index of the plural
	if len(parts) > root+2 && parts[root] == "namespaces" {
		plural = root + 2
	}
	switch len(parts) - plural {
	case 1:
	case 2:
		if object, err = url.PathUnescape(parts[plural+1]); err != nil {
			return "", "", err
		}
		parts = parts[:plural+1]
	default:
		return "", "", errors.New("expected the path of a collection or an object")
	}
	return strings.Join(parts, "/"), object, nil
}
