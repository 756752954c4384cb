package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const etcdLog = "etcd.log"

// Etcd is an etcd server. Start and Kill must not be called concurrently.
type Etcd struct {
	// URL is the address for clients, for example http://127.0.0.1:20001. Clients can use gRPC or JSON. The URL stays
	// the same after a restart.
	URL string

	binaries string // folder that contains the program kube
	folder   string // folder for etcd's data and log
	peerURL  string
	process  *process
}

// StartEtcd starts etcd without Kubernetes for one test and kills it when the test ends. If the test fails, StartEtcd
// logs the end of etcd's log. If the binaries do not exist, it skips or fails the test like [Binaries].
func StartEtcd(t testing.TB) *Etcd {
	t.Helper()
	binaries := Binaries(t)
	for attempt := 1; ; attempt++ {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		// Each attempt needs a new folder, because etcd stores its ports with its data.
		e := newEtcd(binaries, t.TempDir(), ports[0], ports[1])
		t.Cleanup(e.Kill)
		err = e.Start(t.Context())
		if err == nil {
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("end of etcd's log:\n%s", tail(filepath.Join(e.folder, etcdLog)))
				}
			})
			return e
		}
		if attempt == portAttempts || !errors.Is(err, errPortTaken) {
			t.Fatal(err)
		}
	}
}

func newEtcd(binaries, folder string, clientPort, peerPort int) *Etcd {
	return &Etcd{
		URL:      fmt.Sprintf("http://127.0.0.1:%d", clientPort),
		peerURL:  fmt.Sprintf("http://127.0.0.1:%d", peerPort),
		binaries: binaries,
		folder:   folder,
	}
}

// readySignal is an io.Writer that closes ready on the first write.
type readySignal struct {
	once  sync.Once
	ready chan struct{}
}

// Write implements io.Writer. The program writes to stdout only when etcd is ready.
func (r *readySignal) Write(p []byte) (int, error) {
	r.once.Do(func() { close(r.ready) })
	return len(p), nil
}

// Start starts etcd, or restarts it after Kill, and blocks until etcd is ready. It returns an error if another process
// has taken a port of this server.
func (e *Etcd) Start(ctx context.Context) error {
	signal := &readySignal{ready: make(chan struct{})}
	p, err := startProcess(e.binaries, filepath.Join(e.folder, etcdLog), signal, "etcd",
		"--data-dir", filepath.Join(e.folder, "etcd"), "--client-url", e.URL, "--peer-url", e.peerURL)
	if err != nil {
		return err
	}
	e.process = p
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ctx, stop := p.whileRunning(ctx)
	defer stop()
	select {
	case <-signal.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for etcd to be ready: %w", context.Cause(ctx))
	}
}

// Kill sends SIGKILL to etcd and waits until the process has exited.
func (e *Etcd) Kill() {
	if e.process != nil {
		e.process.kill()
	}
}

// Compact removes etcd's history before the current revision.
func (e *Etcd) Compact(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(e.binaries, "kube"), "compact", "--client-url", e.URL)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compacting etcd: %w: %s", err, strings.TrimSpace(output.String()))
	}
	return nil
}
