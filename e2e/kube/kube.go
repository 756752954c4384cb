// Package kube runs a real kube-apiserver with etcd on loopback for tests.
//
// A test starts its own cluster with [Start], or shares a cluster with the other tests in its package through
// [Shared]. Use [New] outside of tests. The servers exit when the process that started them exits, even if that
// process is killed.
//
// The package does not import Kubernetes libraries, so that tests compile fast. The script e2e/build.sh builds the
// servers.
package kube

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// startTimeout limits the start of each server. A start normally takes a few seconds.
const startTimeout = 2 * time.Minute

// Cluster is a running kube-apiserver with its etcd. The fields must not be changed.
//
// Do, Compact, CreateCRD and HTTPClient may be called at any time. The other methods start or stop servers and must not
// be called concurrently.
type Cluster struct {
	// URL is the address of the API server, for example https://127.0.0.1:20001. It stays the same after a restart.
	URL string
	// CAPEM is the CA certificate of the API server in PEM format. CAFile is the path of a file that contains it.
	CAPEM  []byte
	CAFile string
	// AdminToken is the bearer token of the user admin in the group system:masters. The user has all permissions and no
	// rate limits.
	AdminToken string
	// NobodyToken is the bearer token of the user nobody, which has no permissions.
	NobodyToken string
	// ClientCertFile and ClientKeyFile are the paths of a client certificate and its key in PEM format. They
	// authenticate the user cert-admin in the group system:masters.
	ClientCertFile, ClientKeyFile string
	// Kubectl is the path of a kubectl with the same version as the API server.
	Kubectl string
	// Kubeconfig is the path of a kubeconfig with the admin's token.
	Kubeconfig string

	flags     []string // additional flags for kube-apiserver
	binaries  string   // folder that contains the programs kube and kubectl
	folder    string   // folder for all files of this cluster
	port      int
	client    *http.Client
	etcd      *Etcd
	apiserver *process
	closeOnce sync.Once
}

// New starts a cluster and returns it when it is ready, usually after three to six seconds. ctx limits only the start.
// The caller must close the cluster. If the binaries do not exist, the error matches [kubeassets.ErrNotBuilt].
//
// The API server gets apiServerFlags in addition to the flags of this package. A flag with a single value overrides
// this package's value. The values of a list flag are added to this package's values.
func New(ctx context.Context, apiServerFlags ...string) (*Cluster, error) {
	binaries, err := locate()
	if err != nil {
		return nil, err
	}
	var c *Cluster
	err = onFreePorts(3, func(ports []int) (err error) {
		c, err = newCluster(ctx, binaries, ports, apiServerFlags)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("starting a cluster: %w", err)
	}
	return c, nil
}

// newCluster tries once to start a cluster on three ports. If it fails, it stops the servers and removes all files.
func newCluster(ctx context.Context, binaries string, ports []int, flags []string) (_ *Cluster, err error) {
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

// Close kills both servers and removes the files of the cluster. Further calls have no effect.
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
		// If this fails, only files in the temporary folder remain.
		_ = os.RemoveAll(c.folder)
	})
}

func (c *Cluster) path(name string) string { return filepath.Join(c.folder, name) }
