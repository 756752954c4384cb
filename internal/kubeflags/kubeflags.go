//go:build !js

// Package kubeflags loads a kubeconfig and applies command-line overrides. Package kubeconfig provides the
// implementation.
package kubeflags

import (
	"io"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options override the kubeconfig. The zero value behaves like kubectl without flags.
type Options struct {
	Path string // the only file to read, which must exist; by default the files of KUBECONFIG, or ~/.kube/config

	Context   string // name of a context; by default the current context
	Cluster   string // name of a cluster; by default the cluster of the context
	User      string // name of a user; by default the user of the context
	Namespace string // by default the namespace of the context

	Server     string // URL of the server; the certificate authority, the proxy and the credentials still come from the kubeconfig
	ServerName string // host name to verify in the server's certificate; if Server is set, the kubeconfig's tls-server-name is ignored
	CAFile     string // PEM file; overrides the certificate authority and insecure-skip-tls-verify of the cluster
	Insecure   bool   // do not verify the server's certificate

	Token     string   // bearer token; overrides all credentials of the user; also sent over plain "http"
	As        string   // user to impersonate; overrides the impersonated user and groups of the kubeconfig
	AsGroups  []string // groups to impersonate
	UserAgent string   // see transport/http.Options

	Stderr  io.Writer // see kubeconfig.Options
	Account string    // folder of the service account's files; by default the folder that Kubernetes mounts in a Pod
}

// Config describes the server to connect to.
type Config struct {
	Server    string // the server's URL
	Namespace string // "default" if neither the kubeconfig nor the options set one
	Context   string // name of the context, or ""
	Cluster   string // name of the cluster, or ""
	User      string // name of the user, or ""
	HTTP      *lwhttp.Options
}

// Transport returns a transport to Server with the options in HTTP.
func (c *Config) Transport() (*lwhttp.Transport, error) { return lwhttp.New(c.Server, c.HTTP) }

// Names lists the names in the kubeconfig, sorted.
type Names struct {
	Contexts, Clusters, Users []string
	Current                   string // the current context
}

var (
	// Load loads the kubeconfig and applies the overrides in opts, which may be nil.
	Load func(opts *Options) (*Config, error)

	// List returns the names in the kubeconfig for shell completion. It uses only opts.Path, runs no plugin and opens
	// no other files. opts may be nil.
	List func(opts *Options) (*Names, error)
)
