//go:build !js

package kubeconfig

import (
	"io"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options say what counts more than the files. The zero value is kubectl without flags.
type Options struct {
	Path string // the only file to read, which must exist; empty means those of KUBECONFIG, or ~/.kube/config

	Context string // its name, in place of the current one
	Cluster string // a cluster's name, in place of the context's
	User    string // a user's name, in place of the context's

	Namespace string // in place of the context's

	Server     string // URL, in place of the cluster's. The cluster's authority and proxy and the user's credentials stay
	ServerName string // the name to verify, in place of the cluster's, which does not stay with another Server either
	CAFile     string // PEM, in place of the cluster's authority, and of its leave to skip verifying
	Insecure   bool   // do not verify the server

	Token     string   // bearer token, in place of all credentials of the user. Sent over plain "http", too
	As        string   // user to impersonate, in place of the file's user and groups
	AsGroups  []string // groups to impersonate
	UserAgent string   // see the options of transport/http

	// Stderr is where credential plugins write what a human has to see, as a code for a log-in; nil means nowhere. The last
	// lines are in an [ExecError] in any case. Plugins read the program's standard input if that is a terminal.
	Stderr io.Writer

	account string // the folder of the service account, in tests
}

// Config says where to connect.
type Config struct {
	Server    string // URL
	Namespace string // "default" if nothing names another
	Context   string // name of the context; "" where none counts
	Cluster   string // name of the cluster, or ""
	User      string // name of the user, or ""

	HTTP *lwhttp.Options // how to connect to Server
}

// Transport makes a transport to Server with HTTP.
func (c *Config) Transport() (*lwhttp.Transport, error) { return lwhttp.New(c.Server, c.HTTP) }

// Names are what a user can choose from, each sorted.
type Names struct {
	Contexts, Clusters, Users []string
	Current                   string // the current context
}

// List reads the names that the files have, for shell completion. Of the options only Path counts. It runs no plugin, and
// opens no other files.
func List(opts *Options) (*Names, error) {
	if opts == nil {
		opts = &Options{}
	}
	m, err := opts.merge()
	if err != nil {
		return nil, err
	}
	return &Names{m.names("context"), m.names("cluster"), m.names("user"), m.current.text}, nil
}
