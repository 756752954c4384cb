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

// Etcd is a running etcd. Its methods start and stop it and must not be called concurrently.
type Etcd struct {
	// URL is the client address, http://127.0.0.1:port, for gRPC and JSON. Restarts keep it.
	URL string

	binaries string // folder of the binary kube
	folder   string // folder for all files of this etcd
	peerURL  string
	process  *process
}

// StartEtcd starts an etcd without Kubernetes and kills it when the test ends. It skips or fails the test like
// [Binaries]. If the test fails, it logs the end of etcd's log.
func StartEtcd(t testing.TB) *Etcd {
	t.Helper()
	binaries := Binaries(t)
	for attempt := 1; ; attempt++ {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		// Each attempt needs its own folder because the data contains the ports.
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

// Start starts etcd, or restarts it after Kill, and blocks until it serves its data. It does not probe the port,
// because another process may have taken it.
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

// Kill kills etcd with SIGKILL and returns when the process has ended.
func (e *Etcd) Kill() {
	if e.process != nil {
		e.process.kill()
	}
}

// Compact drops all history before this call.
func (e *Etcd) Compact(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(e.binaries, "kube"), "compact", "--client-url", e.URL)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compacting etcd: %w: %s", err, strings.TrimSpace(output.String()))
	}
	return nil
}
