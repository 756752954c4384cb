// Package kube runs a real kube-apiserver with etcd on loopback for tests.
//
// It imports only the standard library, so that tests compile fast. The script e2e/build.sh builds the binaries of the
// servers. The servers exit when the process that started them exits, even if that process is killed.
//
// A test starts its own cluster with [Start], or shares a cluster with the other tests of its package through [Shared].
// Use [New] outside of tests.
package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// startTimeout limits the start of each server. A start usually takes seconds, but the machine may be busy.
	startTimeout = 2 * time.Minute
	// portAttempts is the number of times that New tries to start a cluster if another process takes a chosen port.
	portAttempts = 3
)

// Cluster is a running kube-apiserver with its etcd. The caller of New must close it and must not change its fields.
//
// Kill, Terminate, Wait, StartAPIServer, ExpireVersions and Close start and stop servers and must not be called
// concurrently. All other methods may be called at any time.
type Cluster struct {
	// URL is the address of the API server, https://127.0.0.1:port. It stays the same after a restart.
	URL string
	// CAPEM is the CA of the API server's certificate in PEM format, and CAFile is the path of a file with the same
	// content.
	CAPEM  []byte
	CAFile string
	// AdminToken is the bearer token of the user admin in the group system:masters. This user has all permissions and
	// is never rate-limited.
	AdminToken string
	// NobodyToken is the bearer token of the user nobody, which has no permissions.
	NobodyToken string
	// ClientCertFile and ClientKeyFile are the paths of a PEM certificate and its key. They authenticate the user
	// cert-admin in the group system:masters.
	ClientCertFile, ClientKeyFile string
	// Kubectl is the path of a kubectl with the same version as the API server.
	Kubectl string
	// Kubeconfig is the path of a kubeconfig with the admin's token.
	Kubeconfig string

	flags     []string // additional flags of kube-apiserver
	binaries  string   // folder of the binaries kube and kubectl
	folder    string   // folder for all files of this cluster
	port      int
	client    *http.Client
	etcd      *Etcd
	apiserver *process
	closeOnce sync.Once
}

// New starts a cluster and returns it when it is ready, usually after three to six seconds. The arguments are
// additional flags of kube-apiserver. A flag with a single value replaces the default of this package, and a flag with
// a list extends it. The context limits only the start. If the binaries do not exist, the error matches [ErrNotBuilt].
func New(ctx context.Context, apiServerFlags ...string) (*Cluster, error) {
	binaries, err := locate()
	if err != nil {
		return nil, err
	}
	for range portAttempts {
		var c *Cluster
		if c, err = newCluster(ctx, binaries, apiServerFlags); err == nil {
			return c, nil
		}
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, fmt.Errorf("starting a cluster: %w", err)
}

// newCluster tries once to start a cluster. It stops all servers and removes all files if it fails.
func newCluster(ctx context.Context, binaries string, flags []string) (_ *Cluster, err error) {
	folder, err := os.MkdirTemp("", "listwatch-kube-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{flags: flags, binaries: binaries, folder: folder, Kubectl: filepath.Join(binaries, "kubectl")}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	c.port = ports[0]
	c.URL = fmt.Sprintf("https://127.0.0.1:%d", c.port)
	if err := c.writeCredentials(); err != nil {
		return nil, fmt.Errorf("writing credentials: %w", err)
	}
	c.etcd = newEtcd(binaries, folder, ports[1], ports[2])
	if err := c.etcd.Start(ctx); err != nil {
		return nil, err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Close kills both servers and removes all files of the cluster. Further calls do nothing.
func (c *Cluster) Close() {
	c.closeOnce.Do(func() {
		if c.apiserver != nil {
			c.apiserver.kill()
		}
		if c.etcd != nil {
			c.etcd.Kill()
		}
		if c.client != nil {
			c.client.CloseIdleConnections()
		}
		// The folder is temporary, so remaining files do not matter.
		_ = os.RemoveAll(c.folder)
	})
}

func (c *Cluster) path(name string) string { return filepath.Join(c.folder, name) }
