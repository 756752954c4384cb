// Package kube runs a real kube-apiserver with etcd on loopback for tests.
//
// It imports the standard library alone, so that a test that uses it compiles fast: the servers are the binaries of
// e2e/build.sh. They exit when the process that started them does, also when that is killed.
//
// A test takes a cluster of its own with [Start], or shares one with the other tests of its package through [Shared]. [New]
// is for use outside of tests.
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
	// startTimeout bounds one start of one server. It takes seconds; the bound is for machines that do much else at the same
	// time.
	startTimeout = 2 * time.Minute
	// portAttempts is how often New begins again because another process took a port between its choice and its use.
	portAttempts = 3
)

// Options are the settings of a cluster. The zero value is ready for use.
type Options struct {
	// Folder holds the binaries kube and kubectl. Default: what [Locate] finds.
	Folder string
	// APIServerFlags are flags of kube-apiserver that are added to those of the harness, such as --watch-cache=false. A flag
	// that holds one value replaces the harness's, a flag that holds a list adds to it.
	APIServerFlags []string
}

// Cluster is a running etcd and kube-apiserver. The one who made it owns it and closes it. Its fields are fixed and must not
// be changed.
//
// Kill, Terminate, Wait, StartAPIServer, ExpireVersions and Close start and stop servers and must not run at the same time
// as one another. All other methods may run concurrently with everything.
type Cluster struct {
	// URL is where the API server serves, https://127.0.0.1:port. It stays the same over restarts.
	URL string
	// CAPEM and CAFile are the CA of the API server's certificate, in PEM.
	CAPEM  []byte
	CAFile string
	// AdminToken is the bearer token of the user admin in system:masters, who may do all and is never rate-limited.
	AdminToken string
	// NobodyToken is the bearer token of the user nobody, who has no rights.
	NobodyToken string
	// ClientCertFile and ClientKeyFile are the certificate and key of the user cert-admin in system:masters, in PEM.
	ClientCertFile, ClientKeyFile string
	// Kubectl is the path of kubectl, of the same version as the server.
	Kubectl string
	// Kubeconfig is the path of a kubeconfig with the admin's token.
	Kubeconfig string

	options   Options
	folder    string // all files of this cluster
	port      int
	client    *http.Client
	etcd      *Etcd
	apiserver *process
	closeOnce sync.Once
}

// New starts a cluster and returns when it is ready, which takes three to six seconds. The context bounds the start only.
// Without binaries the error matches [ErrNotBuilt].
func New(ctx context.Context, options Options) (*Cluster, error) {
	if options.Folder == "" {
		folder, err := Locate()
		if err != nil {
			return nil, err
		}
		options.Folder = folder
	}
	var err error
	for range portAttempts {
		var c *Cluster
		if c, err = newCluster(ctx, options); err == nil {
			return c, nil
		}
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, fmt.Errorf("starting a cluster: %w", err)
}

// newCluster makes one attempt at starting a cluster. It leaves nothing behind when it fails.
func newCluster(ctx context.Context, options Options) (_ *Cluster, err error) {
	folder, err := os.MkdirTemp("", "listwatch-kube-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, folder: folder, Kubectl: filepath.Join(options.Folder, "kubectl")}
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
	c.etcd = newEtcd(options.Folder, folder, ports[1], ports[2])
	if err := c.etcd.Start(ctx); err != nil {
		return nil, err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Close kills both servers and removes all files of the cluster. Calls after the first do nothing.
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
		// What stays behind is in the system's folder for temporary files.
		_ = os.RemoveAll(c.folder)
	})
}

func (c *Cluster) path(name string) string { return filepath.Join(c.folder, name) }
