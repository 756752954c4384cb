//go:build !js

// Package kubeflags declares variables for functions that load a kubeconfig and apply command-line flags. Package
// kubeconfig sets these variables.
package kubeflags

import (
	"io"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options override the kubeconfig. The zero value behaves like kubectl without flags.
type Options struct {
	Path string // kubeconfig file to read, which must exist; if empty, the files in $KUBECONFIG are read, or ~/.kube/config

	Context   string // name of a context; by default the current context
	Cluster   string // name of a cluster; by default the cluster of the context
	User      string // name of a user; by default the user of the context
	Namespace string // by default the namespace of the context

	Server     string // URL of the server; the certificate authority, the proxy and the credentials still come from the kubeconfig
	ServerName string // host name to verify in the server's certificate; if Server is set, the kubeconfig's tls-server-name is ignored
	CAFile     string // PEM file; overrides the certificate authority and insecure-skip-tls-verify of the cluster
	Insecure   bool   // skips verification of the server's certificate

	Token     string   // bearer token, which is sent even over http; overrides all credentials of the user
	As        string   // user to impersonate; overrides the impersonated user and groups of the kubeconfig
	AsGroups  []string // groups to impersonate
	UserAgent string   // User-Agent header; see transport/http.Options

	Stderr  io.Writer // receives the messages of credential plugins; see kubeconfig.Options
	Account string    // folder with the files of the service account; by default the folder that Kubernetes mounts in a Pod
}

// Config describes the server to connect to.
type Config struct {
	Server    string // URL
	Namespace string // "default" if neither the kubeconfig nor the options set one
	Context   string // name of the context, or "" if there is none
	Cluster   string // name of the cluster, or "" if there is none
	User      string // name of the user, or "" if there is none
	HTTP      *lwhttp.Options
}

// Transport returns a transport that connects to c.Server with the options c.HTTP.
func (c *Config) Transport() (*lwhttp.Transport, error) { return lwhttp.New(c.Server, c.HTTP) }

// Names contains the sorted names of the contexts, clusters and users in a kubeconfig.
type Names struct {
	Contexts, Clusters, Users []string
	Current                   string // name of the current context
}

var (
	// Load loads the kubeconfig and applies the overrides in opts, which may be nil.
	Load func(opts *Options) (*Config, error)

	// List returns the names in the kubeconfig for shell completion. It ignores all options except opts.Path, runs no
	// plugins and reads no files other than the kubeconfig. opts may be nil.
	List func(opts *Options) (*Names, error)
)
