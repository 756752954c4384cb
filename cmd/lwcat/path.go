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

// engineParameters are query parameters that the engine sets. Paths copied from a log contain them.
var engineParameters = []string{
	"watch", "resourceVersion", "resourceVersionMatch", "timeout", "timeoutSeconds", "allowWatchBookmarks", "sendInitialEvents",
	"limit", "continue",
}

// fromPath returns the collection at a path. The path may be an old one for watches, as /api/v1/watch/pods, and name one object.
func fromPath(raw string, o *resourceOptions) (resource lw.Resource, err error) {
	path, query, _ := strings.Cut(raw, "?")
	resource.Raw, resource.Name, err = splitPath(strings.TrimSuffix(path, "/"))
	values, queryErr := url.ParseQuery(query)
	switch {
	case cmp.Or(err, queryErr) != nil:
		return resource, fmt.Errorf("%s: %w", raw, cmp.Or(err, queryErr))
	case resource.Raw == "":
		return resource, fmt.Errorf("%s names no collection: expected a path as /api/v1/pods", raw)
	case values.Has("labelSelector") && o.labels != "", values.Has("fieldSelector") && (o.fields != "" || resource.Name != ""):
		return resource, fmt.Errorf("%s: it has a selector of its own, and one is all that a server heeds", raw)
	}
	for _, name := range engineParameters {
		values.Del(name)
	}
	if query = values.Encode(); query != "" {
		resource.Raw += "?" + query
	}
	return resource, nil
}

// splitPath splits an API path into the path of the collection and the name of one object. Other paths stay unchanged.
func splitPath(path string) (collection, object string, err error) {
	parts := strings.Split(path, "/") // the first is empty
	root := 3                         // of /api/v1/pods
	if len(parts) > 1 && parts[1] == "apis" {
		root = 4 // of /apis/apps/v1/deployments
	}
	if len(parts) <= root || parts[1] != "api" && parts[1] != "apis" {
		return path, "", nil
	}
	if parts[root] == "watch" {
		parts = slices.Delete(parts, root, root+1)
	}
	plural := root // where that stands
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
		return "", "", errors.New("it is the path of neither a collection nor an object")
	}
	return strings.Join(parts, "/"), object, nil
}
