//go:build !js

package kubeconfig

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options selects the context, cluster and user of a kubeconfig. The zero value behaves like kubectl without flags.
type Options struct {
	Path string // path of the kubeconfig file, which must exist; if empty, the files listed in $KUBECONFIG, or ~/.kube/config

	Context   string // name of a context; by default the current context
	Cluster   string // name of a cluster; by default the cluster of the context
	User      string // name of a user; by default the user of the context
	Namespace string // namespace of the requests; by default the namespace of the context

	// Stderr receives the messages of credential plugins, such as a login code. If Stderr is nil, the messages are
	// discarded. In both cases, the [Error] of a failed plugin contains the last lines. Plugins can read standard input
	// if it is a terminal.
	Stderr io.Writer
}

// Config is the result of [Load]: a server, a namespace and the credentials for the server.
type Config struct {
	Server    string          // URL of the server
	Namespace string          // namespace, or "default" if neither the kubeconfig nor the options set it
	Context   string          // name of the context, or ""
	HTTP      *lwhttp.Options // credentials and TLS options; may be changed before the call of Transport
}

// Transport returns a transport that connects to c.Server with the options c.HTTP.
func (c *Config) Transport() (*lwhttp.Transport, error) { return lwhttp.New(c.Server, c.HTTP) }

// Load reads the kubeconfig and returns the configuration of the selected context. opts may be nil. Load sends nothing
// and runs no plugin. It returns an *[Error] for a mistake in the selected entries, such as an unreadable file or a
// missing plugin. It returns [ErrNowhere] if the kubeconfig names no server.
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
