//go:build !js

// Package kubeflags loads a kubeconfig with the overrides that a command line has. Package kubeconfig implements it.
package kubeflags

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options override the files. The zero value is kubectl without flags.
type Options struct {
	Path string // the only file to read, which must exist; empty means those of KUBECONFIG, or ~/.kube/config

	Context   string // the name of a context; by default the current context
	Cluster   string // the name of a cluster; by default the cluster of the context
	User      string // the name of a user; by default the user of the context
	Namespace string // by default the namespace of the context

	Server     string // URL; the authority and the proxy of the cluster and the credentials of the user stay
	ServerName string // the name to verify; a Server drops the name of the cluster
	CAFile     string // PEM; replaces the authority of the cluster and its insecure-skip-tls-verify
	Insecure   bool   // do not verify the server

	Token     string   // bearer token; replaces all credentials of the user, and is sent over plain "http" too
	As        string   // user to impersonate; replaces the user and the groups of the file
	AsGroups  []string // groups to impersonate
	UserAgent string   // see the options of transport/http

	Stderr  io.Writer // see the options of kubeconfig
	Account string    // the folder of the service account; "" is that of a Pod
}

// Config is the server to connect to.
type Config struct {
	Server    string // URL
	Namespace string // "default" if neither the files nor the options name one
	Context   string // name, or ""
	Cluster   string // name, or ""
	User      string // name, or ""
	HTTP      *lwhttp.Options
}

// Transport returns a transport to Server with HTTP.
func (c *Config) Transport() (*lwhttp.Transport, error) { return lwhttp.New(c.Server, c.HTTP) }

// Names are the sorted names in the files.
type Names struct {
	Contexts, Clusters, Users []string
	Current                   string // the current context
}

var (
	// Load is kubeconfig.Load with these options. opts may be nil.
	Load func(opts *Options) (*Config, error)

	// List returns the names in the files, for shell completion. It uses only opts.Path. It runs no plugin, and opens no other
	// files. opts may be nil.
	List func(opts *Options) (*Names, error)
)

type withoutMethods Options // has none of the methods below

func (o Options) redacted() withoutMethods {
	if o.Token != "" {
		o.Token = "…"
	}
	if strings.ContainsAny(o.Server, "@?#") { // it may hold a password
		o.Server = "…"
	}
	return withoutMethods(o)
}

// Format prints the options without secrets, because they end up in logs.
func (o Options) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), o.redacted())
}

// MarshalJSON returns the options without secrets.
func (o Options) MarshalJSON() ([]byte, error) { return json.Marshal(o.redacted()) }
