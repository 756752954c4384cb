package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// discovered is one collection that the server has.
type discovered struct {
	group, version, plural, singular, kind string
	shortNames                             []string
	namespaced                             bool
}

// apiGroups is the part that matters of an APIGroupDiscoveryList:
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
type apiGroups struct {
	Kind  string `json:"kind"`
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []struct {
			Version   string `json:"version"`
			Resources []struct {
				Resource     string   `json:"resource"`
				Singular     string   `json:"singularResource"`
				Scope        string   `json:"scope"`
				ShortNames   []string `json:"shortNames"`
				Verbs        []string `json:"verbs"`
				ResponseKind struct {
					Kind string `json:"kind"`
				} `json:"responseKind"`
			} `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
}

// discover asks the server for all its collections that can be listed and watched, in its own order of preference.
func discover(ctx context.Context, transport lw.Transport) (all []discovered, err error) {
	for _, path := range []string{"/api", "/apis"} {
		groups, err := discoverPath(ctx, transport, path)
		if err != nil {
			return nil, fmt.Errorf("asking the server what resources it has (%s): %w", path, err)
		}
		all = append(all, groups.collections()...)
	}
	return all, nil
}

func discoverPath(ctx context.Context, transport lw.Transport, path string) (groups apiGroups, err error) {
	body, err := transport.Open(ctx, &lw.Request{Path: path, Accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"})
	if err != nil {
		return groups, err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(&groups); err != nil {
		return groups, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if groups.Kind != "APIGroupDiscoveryList" {
		return groups, fmt.Errorf("the server does not know aggregated discovery (Kubernetes 1.30 and later do): name a path, as /api/v1/pods, in place of a resource")
	}
	return groups, nil
}

func (g *apiGroups) collections() (all []discovered) {
	for _, group := range g.Items {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				if !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "watch") {
					continue
				}
				all = append(all, discovered{
					group: group.Metadata.Name, version: version.Version, plural: r.Resource, singular: r.Singular,
					kind: r.ResponseKind.Kind, shortNames: r.ShortNames, namespaced: r.Scope == "Namespaced",
				})
			}
		}
	}
	return all
}

// find returns the collection that a name such as pods, po, deploy.apps or deployments.v1.apps stands for. Full names go
// before short ones.
func find(all []discovered, name string) (discovered, error) {
	word, rest, _ := strings.Cut(strings.ToLower(name), ".")
	for _, match := range []func(discovered) bool{
		func(d discovered) bool {
			return word == d.plural || word == d.singular || word == strings.ToLower(d.kind)
		},
		func(d discovered) bool { return slices.Contains(d.shortNames, word) },
	} {
		for _, d := range all {
			if match(d) && (rest == "" || rest == d.group || rest == d.version+"."+d.group || d.group == "" && rest == d.version) {
				return d, nil
			}
		}
	}
	return discovered{}, fmt.Errorf("the server has no resource %q that can be watched", name)
}

// resolve turns the names of the command line into resources. The server is asked only if one of them is not a path.
func resolve(ctx context.Context, transport lw.Transport, w *what, namespace string) (resources []lw.Resource, err error) {
	var all []discovered
	for _, name := range w.names {
		if strings.HasPrefix(name, "/") {
			resources = append(resources, lw.Resource{Raw: name})
			continue
		}
		if all == nil {
			if all, err = discover(ctx, transport); err != nil {
				return nil, err
			}
		}
		plural, object, _ := strings.Cut(name, "/")
		d, err := find(all, plural)
		if err != nil {
			return nil, err
		}
		resource := lw.Resource{Group: d.group, Version: d.version, Plural: d.plural, Name: object}
		if d.namespaced {
			resource.Namespace = cmp.Or(w.namespace, namespace)
			if w.allNamespaces {
				resource.Namespace = ""
			}
		}
		resources = append(resources, resource)
	}
	return resources, nil
}
