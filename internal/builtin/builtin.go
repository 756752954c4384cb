// Package builtin lists the collections that are built into Kubernetes, with their Go types in k8s.io/api.
package builtin

// Resource is a collection of built-in objects at one version of the API.
type Resource struct {
	Package    string // import path of the Go type, for example "k8s.io/api/apps/v1"
	Group      string // "apps"; "" is the core group
	Version    string // "v1"
	Kind       string // "Deployment", which is also the name of the Go type
	Plural     string // "deployments"
	Namespaced bool
}
