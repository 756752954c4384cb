// Package builtin lists the built-in resources of Kubernetes and their Go types.
package builtin

// Resource is a built-in resource in one API version.
type Resource struct {
	Package    string // import path of the Go type, for example "k8s.io/api/apps/v1"
	Group      string // for example "apps", or "" for the core group
	Version    string // for example "v1"
	Kind       string // for example "Deployment"; also the name of the Go type
	Plural     string // for example "deployments"
	Namespaced bool
}
