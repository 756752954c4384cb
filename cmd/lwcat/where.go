package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/spf13/pflag"
)

// where is the server, and as whom to go there.
type where struct {
	kubeflags.Options
	transport string
	recorded  bool // --replay takes the server's place
}

var transports = []string{"http", "ws", "auto"}

func (w *where) flags(set *pflag.FlagSet) {
	set.StringVar(&w.Path, "kubeconfig", "", "the only kubeconfig `FILE` to read, in place of $KUBECONFIG or ~/.kube/config")
	set.StringVar(&w.Context, "context", "", "`NAME` of the context, in place of the current one")
	set.StringVar(&w.Cluster, "cluster", "", "`NAME` of the cluster, in place of the context's")
	set.StringVar(&w.User, "user", "", "`NAME` of the user, in place of the context's")
	set.StringVarP(&w.Server, "server", "s", "", "the API server's `URL`, as https://127.0.0.1:6443")
	set.StringVar(&w.Token, "token", "", "bearer `TOKEN`")
	set.StringVar(&w.CAFile, "certificate-authority", "", "PEM `FILE` to verify the server with")
	set.StringVar(&w.ServerName, "tls-server-name", "", "`NAME` to verify in place of the URL's host")
	set.BoolVar(&w.Insecure, "insecure-skip-tls-verify", false, "do not verify the server")
	set.StringVar(&w.As, "as", "", "`USER` to act as")
	set.StringArrayVar(&w.AsGroups, "as-group", nil, "`GROUP` to act as a member of; may be repeated")
	set.StringVar(&w.transport, "transport", "http", "`NAME` of what watches go over: http, ws, or auto: http, and ws where that does not stream")
}

func (w *where) validate() error {
	if w.recorded && w.Server != "" {
		return errors.New("--server and --replay exclude each other")
	}
	if w.CAFile != "" && w.Insecure {
		return errors.New("--certificate-authority and --insecure-skip-tls-verify contradict each other")
	}
	if !slices.Contains(transports, w.transport) {
		return fmt.Errorf("no transport %q: there are http, ws and auto", w.transport)
	}
	return nil
}

// config finds the server. What plugins say goes to stderr. Where a file does not open, as a pipe that nobody writes to, it ends
// with ctx.
func (w *where) config(ctx context.Context, stderr io.Writer) (*kubeflags.Config, error) {
	w.Stderr = stderr
	var config *kubeflags.Config
	loaded := make(chan error, 1)
	go func() {
		found, err := kubeflags.Load(&w.Options)
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
	return config, advise(err, ofFile(err))
}

// over returns the transport that the command line names.
func (w *where) over(http *lwhttp.Transport) lw.Transport {
	plain, ws := recording.Named("http", http), recording.Named("ws", lwws.New(http, nil))
	switch w.transport {
	case "ws":
		return ws
	case "auto":
		return fallback.New(plain, ws)
	}
	return plain
}
