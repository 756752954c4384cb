package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/spf13/pflag"
)

// serverOptions select the server, the credentials and the transport.
type serverOptions struct {
	kubeconfig.Options
	transport string
}

var transports = []string{"http", "ws", "auto"}

func (o *serverOptions) flags(set *pflag.FlagSet) {
	set.StringVar(&o.Path, "kubeconfig", "", "read only this kubeconfig `FILE` instead of $KUBECONFIG or ~/.kube/config")
	set.StringVar(&o.Context, "context", "", "`NAME` of the context to use instead of the current one")
	set.StringVar(&o.Cluster, "cluster", "", "`NAME` of the cluster to use instead of the context's")
	set.StringVar(&o.User, "user", "", "`NAME` of the user to use instead of the context's")
	set.StringVarP(&o.Server, "server", "s", "", "`URL` of the API server, for example https://127.0.0.1:6443")
	set.StringVar(&o.Token, "token", "", "bearer `TOKEN`")
	set.StringVar(&o.CAFile, "certificate-authority", "", "PEM `FILE` with the CA that signed the server's certificate")
	set.StringVar(&o.ServerName, "tls-server-name", "", "`NAME` to verify in the certificate instead of the URL's host")
	set.BoolVar(&o.Insecure, "insecure-skip-tls-verify", false, "do not verify the server's certificate")
	set.StringVar(&o.As, "as", "", "`USER` to impersonate")
	set.StringArrayVar(&o.AsGroups, "as-group", nil, "`GROUP` to impersonate; may be repeated")
	set.StringVar(&o.transport, "transport", "http", "`NAME` of the transport for watches: http, ws or auto, which falls back to ws if http does not stream")
}

func (o *serverOptions) validate() error {
	if !slices.Contains(transports, o.transport) {
		return fmt.Errorf("unknown transport %q: expected http, ws or auto", o.transport)
	}
	return nil
}

// connection contains the settings and transports for the server that the flags select.
type connection struct {
	*kubeconfig.Config
	flags     *serverOptions
	http      *lwhttp.Transport // without WebSockets; completion and schema requests always use it
	transport lw.Transport      // uses http, and WebSockets depending on --transport
}

// connect loads the kubeconfig. It does not send requests.
func (c *config) connect(stderr io.Writer) (*connection, error) {
	config, err := c.server.load(stderr)
	if err != nil {
		return nil, err
	}
	// HTTP/1.1 takes less CPU time, but hundreds of watches should share connections.
	config.HTTP.DisableHTTP2 = !slices.Contains(c.resources.names, everything)
	http, err := lwhttp.New(config.Server, config.HTTP)
	if err != nil {
		return nil, err
	}
	return &connection{config, &c.server, http, c.server.newTransport(http)}, nil
}

// load reads the kubeconfig. Its credential plugins write their prompts and errors to stderr.
func (o *serverOptions) load(stderr io.Writer) (*kubeconfig.Config, error) {
	o.Stderr = stderr
	config, err := kubeconfig.Load(&o.Options)
	if errors.Is(err, kubeconfig.ErrNowhere) {
		return nil, usageError{fmt.Errorf("%w: pass --context or --server, or a kubeconfig with --kubeconfig or $KUBECONFIG", err)}
	}
	if wrong, ok := errors.AsType[*kubeconfig.Error](err); ok && wrong.File == "" && wrong.Entry == "" { // caused by the flags
		return nil, usageError{err}
	}
	return config, err
}

// newTransport returns the transport that --transport selects.
func (o *serverOptions) newTransport(http *lwhttp.Transport) lw.Transport {
	switch o.transport {
	case "ws":
		return lwws.New(http)
	case "auto":
		return fallback.New(http, lwws.New(http))
	}
	return http
}
