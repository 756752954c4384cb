//go:build !js

package kubeconfig

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options choose from the kubeconfig files. The zero value is kubectl without flags.
type Options struct {
	Path string // the only file to read, which must exist; empty means those of KUBECONFIG, or ~/.kube/config

	Context   string // the name of a context; by default the current context
	Cluster   string // the name of a cluster; by default the cluster of the context
	User      string // the name of a user; by default the user of the context
	Namespace string // by default the namespace of the context

	// Stderr receives the output of credential plugins for people, such as a code for a login; nil discards it. The last lines
	// are in the text of the [Error] in any case. Plugins read the standard input of the program if it is a terminal.
	Stderr io.Writer
}

// Config is the server to connect to.
type Config struct {
	Server    string          // URL
	Namespace string          // "default" if neither the files nor the options name one
	Context   string          // the name of the context; "" if there is none
	HTTP      *lwhttp.Options // the credentials and the TLS options; the caller may change them before Transport
}

// Transport returns a transport to Server with the options HTTP.
func (c *Config) Transport() (*lwhttp.Transport, error) { return lwhttp.New(c.Server, c.HTTP) }

// Load reads the files, and returns the server to connect to. opts may be nil. It sends nothing and runs no plugin. It reports
// every mistake in the entries that it uses, such as an unreadable file or a missing plugin, in an *[Error]. It returns
// [ErrNowhere] if no file names a server.
func Load(opts *Options) (*Config, error) {
	if opts == nil {
		opts = &Options{}
	}
	config, err := load(&kubeflags.Options{
		Path: opts.Path, Context: opts.Context, Cluster: opts.Cluster, User: opts.User, Namespace: opts.Namespace, Stderr: opts.Stderr,
	})
	if err != nil {
		return nil, err
	}
	return &Config{Server: config.Server, Namespace: config.Namespace, Context: config.Context, HTTP: config.HTTP}, nil
}

func init() { kubeflags.Load, kubeflags.List = load, list }

// options are kubeflags.Options with methods.
type options kubeflags.Options

func list(opts *kubeflags.Options) (*kubeflags.Names, error) {
	if opts == nil {
		opts = &kubeflags.Options{}
	}
	m, err := (*options)(opts).merge()
	if err != nil {
		return nil, err
	}
	return &kubeflags.Names{Contexts: m.names("context"), Clusters: m.names("cluster"), Users: m.names("user"), Current: m.current.text}, nil
}
