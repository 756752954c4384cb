// Package discovery finds out which collections a server has, and for which of them a name stands.
package discovery

import (
	"slices"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Resource is a kind of collection that a server has.
type Resource struct {
	Group, Version string // "" and "v1", or "apps" and "v1"
	Plural         string // as "deployments"
	Singular       string // as "deployment"
	Kind           string // as "Deployment"
	ShortNames     []string
	Namespaced     bool
	Verbs          []string // as "list" and "watch"
}

// String is the resource's full name: "pods", "deployments.apps".
func (r *Resource) String() string {
	return lw.Resource{Group: r.Group, Plural: r.Plural}.String()
}

// Watchable reports whether it can be listed and watched.
func (r *Resource) Watchable() bool {
	return slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
}

// Resources are what a server has. The server's own order is kept, which is that of preference: the core group first, and
// of each group the preferred version.
type Resources struct {
	All     []Resource
	Missing []string // what the server could not tell all of: "metrics.k8s.io/v1beta1: …"
}
