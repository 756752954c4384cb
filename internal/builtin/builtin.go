// Package builtin lists the built-in resources of Kubernetes and their Go types, so that other packages can look them
// up without importing k8s.io/api.
package builtin

import (
	"iter"
	"strings"
)

// Resource is a built-in resource in one API version.
type Resource struct {
	Package    string // import path of the Go type, for example "k8s.io/api/apps/v1"
	Group      string // for example "apps", or "" for the core group
	Version    string // for example "v1"
	Kind       string // for example "Deployment"; also the name of the Go type
	Plural     string // for example "deployments"
	Namespaced bool
}

// All returns the built-in resources in all of their versions. Among resources with the same plural name, the preferred
// resource comes first.
func All() iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for _, r := range table {
			for kind := range strings.SplitSeq(r.kinds, " ") {
				for version := range strings.SplitSeq(r.versions, " ") {
					if !yield(Resource{r.source + "/" + version, r.group, version, kind, plural(kind), r.namespaced}) {
						return
					}
				}
			}
		}
	}
}

// row describes all resources of an API group that have the same versions and scope. Such rows make the table much
// shorter than one row per resource.
type row struct {
	source, group string // source is the import path of the Go types without the version
	namespaced    bool
	versions      string // the preferred version comes first
	kinds         string
}

// plural returns the plural name that Kubernetes derives from a kind.
func plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case name == "endpoints":
		return name
	case strings.HasSuffix(name, "s"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}
