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

// Etcd is a running etcd. The one who made it owns it. Its methods start and stop it and must not run at the same time as
// one another.
type Etcd struct {
	// URL is where it serves clients, over gRPC and as JSON, http://127.0.0.1:port. It stays the same over restarts.
	URL string

	binaries string // the folder of the binary kube
	folder   string // all files of this etcd
	peerURL  string
	process  *process
}

// StartEtcd starts an etcd alone for one test and kills it when the test ends. It skips or fails the test as [Binaries]
// does. If the test fails, the end of etcd's log is in its output.
func StartEtcd(t testing.TB) *Etcd {
	t.Helper()
	binaries := Binaries(t)
	for attempt := 1; ; attempt++ {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		// A folder of its own, as the data know the ports.
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

// readySignal closes its channel at the first output that it is given.
type readySignal struct {
	once  sync.Once
	ready chan struct{}
}

// Write implements io.Writer. etcd writes nothing but one line to stdout, when it serves.
func (r *readySignal) Write(p []byte) (int, error) {
	r.once.Do(func() { close(r.ready) })
	return len(p), nil
}

// Start starts etcd, at first and again after Kill, and returns when it serves what it served before. Its port is not asked
// whether it is ready: another process may have taken it and answer.
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

// Kill kills etcd without any goodbye to its clients, and returns when it is gone.
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
