package kube

import (
	"context"
	"fmt"
	"syscall"
)

const apiserverLog = "apiserver.log"

// StartAPIServer starts the API server, at first and again after Kill or Terminate, and returns when it is ready. It serves
// at the same URL with the same data. If one is still running, it waits for its end first.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.Wait(ctx); err != nil {
		return err
	}
	args := append([]string{"apiserver"}, c.apiServerFlags()...)
	p, err := startProcess(c.options.Folder, c.path(apiserverLog), nil, args...)
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
		// Compaction is done by the tests that need it, at a time they know. 0 would disable it too, but such a server does
		// not notice either when another compacts, and answers from its own snapshots for ever.
		"--etcd-compaction-interval=24h",
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.port),
		"--tls-cert-file=" + c.path(serverCertFile),
		"--tls-private-key-file=" + c.path(serverKeyFile),
		"--client-ca-file=" + c.path(clientCAFile),
		"--token-auth-file=" + c.path(tokenFile),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path(serviceAccountFile),
		"--service-account-signing-key-file=" + c.path(serviceAccountFile),
		"--service-cluster-ip-range=10.0.0.0/24",
		// No controller makes the service accounts that this plugin demands.
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
		// Pages of any port of this machine. A pattern that does not pin start and end would match any origin that contains
		// it.
		`--cors-allowed-origins=^https?://(127\.0\.0\.1|localhost)(:|$)`,
		// Otherwise a SIGTERM waits a minute for open watches.
		"--shutdown-watch-termination-grace-period=1s",
	}, c.options.APIServerFlags...)
}

// Kill kills the API server without any goodbye to its clients, and returns when it is gone.
func (c *Cluster) Kill() { c.apiserver.kill() }

// Terminate asks the API server to shut down and returns at once. It ends its watches and exits after about two seconds;
// Wait waits for that.
func (c *Cluster) Terminate() error { return c.apiserver.signal(syscall.SIGTERM) }

// Wait returns when the API server has exited.
func (c *Cluster) Wait(ctx context.Context) error {
	if c.apiserver == nil {
		return nil
	}
	return c.apiserver.wait(ctx)
}

// Compact drops all history of etcd before this call: every continue token and every resourceVersionMatch=Exact of an
// earlier list expires. The API server answers from its own snapshots for up to 15 more seconds, and watches from old
// versions go on working as long as its watch cache reaches back to them; see ExpireVersions.
func (c *Cluster) Compact(ctx context.Context) error {
	return c.etcd.Compact(ctx)
}
