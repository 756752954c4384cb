// Package discovery lists the resources of a server and finds them by name.
package discovery

import (
	"slices"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Resource describes a resource that the server offers.
type Resource struct {
	Group, Version string // for example "" and "v1", or "apps" and "v1"
	Plural         string // for example "deployments"
	Singular       string // for example "deployment"
	Kind           string // for example "Deployment"
	ShortNames     []string
	Namespaced     bool
	Verbs          []string // for example "list" and "watch"
}

// String returns the full name of the resource, for example "pods" or "deployments.apps".
func (r *Resource) String() string {
	return lw.Resource{Group: r.Group, Plural: r.Plural}.String()
}

// Watchable reports whether the resource can be listed and watched.
func (r *Resource) Watchable() bool {
	return slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
}

// Resources contains the resources of a server in the server's order of preference. The core group comes first. The
// preferred version of each group comes before its other versions.
type Resources struct {
	All     []Resource
	Missing []string // group versions that could not be discovered, with the reason: "metrics.k8s.io/v1beta1: …"
}
