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

// Etcd is an etcd server. Its methods start and stop the server and must not be called concurrently.
type Etcd struct {
	// URL is the address for clients, http://127.0.0.1:port, which serves gRPC and JSON. It stays the same after a
	// restart.
	URL string

	binaries string // folder of the binary kube
	folder   string // folder for all files of this etcd
	peerURL  string
	process  *process
}

// StartEtcd starts etcd without Kubernetes and returns it. It kills etcd when the test ends. If the test fails, it logs
// the last lines of etcd's log. It skips or fails the test like [Binaries].
func StartEtcd(t testing.TB) *Etcd {
	t.Helper()
	binaries := Binaries(t)
	for attempt := 1; ; attempt++ {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		// Each attempt needs a new folder, because etcd stores its ports in its data.
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

// readySignal closes its channel at the first write.
type readySignal struct {
	once  sync.Once
	ready chan struct{}
}

// Write implements io.Writer. etcd writes only one line to stdout, when it is ready.
func (r *readySignal) Write(p []byte) (int, error) {
	r.once.Do(func() { close(r.ready) })
	return len(p), nil
}

// Start starts etcd, or restarts it after Kill, and blocks until etcd is ready. It does not connect to the port to find
// out, because another process may have taken the port.
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

// Kill sends SIGKILL to etcd and returns when the process has ended.
func (e *Etcd) Kill() {
	if e.process != nil {
		e.process.kill()
	}
}

// Compact discards etcd's history up to the current revision.
func (e *Etcd) Compact(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(e.binaries, "kube"), "compact", "--client-url", e.URL)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compacting etcd: %w: %s", err, strings.TrimSpace(output.String()))
	}
	return nil
}
