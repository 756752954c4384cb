package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/spf13/pflag"
)

// serverOptions select the server and the credentials.
type serverOptions struct {
	kubeconfig.Options
	transport string
	replaying  bool // --replay replaces the server
}

var transports = []string{"http", "ws", "auto"}

func (o *serverOptions) flags(set *pflag.FlagSet) {
	set.StringVar(&o.Path, "kubeconfig", "", "the only kubeconfig `FILE` to read, in place of $KUBECONFIG or ~/.kube/config")
	set.StringVar(&o.Context, "context", "", "`NAME` of the context, in place of the current one")
	set.StringVar(&o.Cluster, "cluster", "", "`NAME` of the cluster, in place of the context's")
	set.StringVar(&o.User, "user", "", "`NAME` of the user, in place of the context's")
	set.StringVarP(&o.Server, "server", "s", "", "the API server's `URL`, as https://127.0.0.1:6443")
	set.StringVar(&o.Token, "token", "", "bearer `TOKEN`")
	set.StringVar(&o.CAFile, "certificate-authority", "", "PEM `FILE` to verify the server with")
	set.StringVar(&o.ServerName, "tls-server-name", "", "`NAME` to verify in place of the URL's host")
	set.BoolVar(&o.Insecure, "insecure-skip-tls-verify", false, "do not verify the server")
	set.StringVar(&o.As, "as", "", "`USER` to act as")
	set.StringArrayVar(&o.AsGroups, "as-group", nil, "`GROUP` to act as a member of; may be repeated")
	set.StringVar(&o.transport, "transport", "http", "`NAME` of what watches go over: http, ws, or auto: http, and ws where that does not stream")
}

func (o *serverOptions) validate() error {
	if o.replaying && o.Server != "" {
		return errors.New("--server and --replay exclude each other")
	}
	if o.CAFile != "" && o.Insecure {
		return errors.New("--certificate-authority and --insecure-skip-tls-verify contradict each other")
	}
	if !slices.Contains(transports, o.transport) {
		return fmt.Errorf("no transport %q: there are http, ws and auto", o.transport)
	}
	return nil
}

// load reads the kubeconfig. Credential plugins write to stderr. It returns early if ctx ends while a file blocks.
func (o *serverOptions) load(ctx context.Context, stderr io.Writer) (*kubeconfig.Config, error) {
	o.Stderr = stderr
	var config *kubeconfig.Config
	loaded := make(chan error, 1)
	go func() {
		found, err := kubeconfig.Load(&o.Options)
		config = found
		loaded <- err
	}()
	var err error
	select {
	case err = <-loaded:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, kubeconfig.ErrNowhere) {
		return nil, usageError{fmt.Errorf("%w: name one by --server, or a kubeconfig by --kubeconfig or in $KUBECONFIG", err)}
	}
	if wrong, ok := errors.AsType[*kubeconfig.Error](err); ok && wrong.File == "" && wrong.Entry == "" { // the flags' fault
		return nil, usageError{err}
	}
	return config, withHint(err, kubeconfigHint(err))
}

// newTransport returns the transport that --transport selects.
func (o *serverOptions) newTransport(http *lwhttp.Transport) lw.Transport {
	plain, ws := recording.Named("http", http), recording.Named("ws", lwws.New(http, nil))
	switch o.transport {
	case "ws":
		return ws
	case "auto":
		return fallback.New(plain, ws)
	}
	return plain
}
