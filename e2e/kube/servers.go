package kube

import (
	"context"
	"fmt"
	"syscall"
)

const apiserverLog = "apiserver.log"

// StartAPIServer starts the API server, or restarts it after Kill or Terminate, and blocks until it is ready. It first
// waits until the previous server has exited. The URL and the data stay the same.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.Wait(ctx); err != nil {
		return err
	}
	args := append([]string{"apiserver"}, c.apiServerFlags()...)
	p, err := startProcess(c.binaries, c.path(apiserverLog), args...)
	if err != nil {
		return err
	}
	c.apiserver = p
	ctx, stop := p.whileRunning(ctx)
	defer stop()
	return Poll(ctx, "the kube-apiserver to be ready", func(ctx context.Context) error {
		_, err := c.get(ctx, "/readyz")
		return err
	})
}

func (c *Cluster) apiServerFlags() []string {
	return append([]string{
		"--etcd-servers=" + c.etcd.URL,
		// The interval is longer than any test, because the tests compact etcd themselves. With an interval of 0, the
		// API server would not notice their compactions.
		"--etcd-compaction-interval=24h",
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.port),
		"--tls-cert-file=" + c.path(serverCertFile),
		"--tls-private-key-file=" + c.path(serverKeyFile),
		"--client-ca-file=" + c.path(clientCAFile),
		"--token-auth-file=" + c.path(tokenFile),
		"--authorization-mode=RBAC",
		// kube-apiserver does not start without an issuer and a signing key, although the tests use no service accounts.
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path(serviceAccountFile),
		"--service-account-signing-key-file=" + c.path(serviceAccountFile),
		"--service-cluster-ip-range=10.0.0.0/24",
		// No controller creates the service accounts that this plugin needs.
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
		// Allows pages from any local port. Without the anchors, the pattern would match any origin that contains it.
		`--cors-allowed-origins=^https?://(127\.0\.0\.1|localhost)(:|$)`,
		// By default, the server waits up to a minute after SIGTERM for its watches to end.
		"--shutdown-watch-termination-grace-period=1s",
	}, c.flags...)
}

// Kill sends SIGKILL to the API server and waits until the process has exited.
func (c *Cluster) Kill() { c.apiserver.kill() }

// Terminate sends SIGTERM to the API server and does not wait. The server closes its watches and exits after about two
// seconds; see [Cluster.Wait].
func (c *Cluster) Terminate() error { return c.apiserver.signal(syscall.SIGTERM) }

// Wait blocks until the API server has exited. It returns an error if ctx is done first.
func (c *Cluster) Wait(ctx context.Context) error {
	if c.apiserver == nil {
		return nil
	}
	return c.apiserver.wait(ctx)
}

// Compact removes etcd's history before the current revision. Older continue tokens expire, and so do older
// resourceVersions in lists with resourceVersionMatch=Exact. The expiry can take up to 15 seconds, because the API
// server keeps its own snapshots.
//
// A watch from an older resourceVersion still works while the watch cache covers that resourceVersion; see
// [Cluster.ExpireVersions].
func (c *Cluster) Compact(ctx context.Context) error {
	return c.etcd.Compact(ctx)
}
