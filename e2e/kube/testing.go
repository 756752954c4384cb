package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// Binaries returns the folder of the binaries kube and kubectl. Without them it skips the test, and says which command would
// enable it, or fails it where nothing may be missing, see [need.Missing].
func Binaries(t testing.TB) string {
	t.Helper()
	folder, err := Locate()
	if errors.Is(err, ErrNotBuilt) {
		need.Missing(t, "%v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return folder
}

// Start starts a cluster for one test and closes it when the test ends. It skips or fails the test as [Binaries] does. The
// flags are added to the API server's, see [Options]. If the test fails, the end of the servers' logs is in its output.
func Start(t testing.TB, apiServerFlags ...string) *Cluster {
	t.Helper()
	c, err := New(t.Context(), Options{Folder: Binaries(t), APIServerFlags: apiServerFlags})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.logOnFailure(t)
	return c
}

// Shared is a cluster that the tests of a package share. It starts when the first test asks for it, so that a run of other
// tests does not pay for it:
//
//	var shared kube.Shared
//
//	func TestMain(m *testing.M) {
//		code := m.Run()
//		shared.Close()
//		os.Exit(code)
//	}
//
// Its methods may run concurrently, Close only after all tests.
type Shared struct {
	// Options are used when the cluster starts.
	Options Options

	once    sync.Once
	cluster *Cluster
	err     error
}

// Get returns the cluster and starts it if no test did so before. It skips or fails the test as [Start] does.
func (s *Shared) Get(t testing.TB) *Cluster {
	t.Helper()
	folder := Binaries(t)
	s.once.Do(func() {
		options := s.Options
		options.Folder = folder
		// Not the test's context: the cluster outlives the test.
		s.cluster, s.err = New(context.Background(), options)
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	s.cluster.logOnFailure(t)
	return s.cluster
}

// Close closes the cluster if it was started.
func (s *Shared) Close() {
	if s.cluster != nil {
		s.cluster.Close()
	}
}

// logOnFailure shows the end of the servers' logs if the test fails.
func (c *Cluster) logOnFailure(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the kube-apiserver's log:\n%s", tail(c.path(apiserverLog)))
			t.Logf("end of etcd's log:\n%s", tail(c.path(etcdLog)))
		}
	})
}

// ErrNotBuilt is the error of [Locate] and [New] when the binaries do not exist. They are not built on the fly: that takes
// minutes, which is for the caller to decide.
var ErrNotBuilt = errors.New("the kube-apiserver for tests is not built; run: make e2e-server")

// Locate returns the folder of the binaries kube and kubectl. It must be called from within the e2e module, as every test of
// that module is. Without binaries the error matches [ErrNotBuilt].
func Locate() (string, error) { return locateOnce() }

// The folder cannot change during a run, and asking for it starts processes.
var locateOnce = sync.OnceValues(locate)

func locate() (string, error) {
	script, err := findScript()
	if err != nil {
		return "", err
	}
	// The script alone knows the name, so that it is computed in one place.
	cmd := exec.Command(script, "--where")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s: %w\n%s", script, err, stderr.Bytes())
	}
	folder := strings.TrimSpace(string(out))
	for _, name := range []string{"kube", "kubectl"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return "", fmt.Errorf("%w (no %s in %s)", ErrNotBuilt, name, folder)
		}
	}
	return folder, nil
}

// findScript finds build.sh in the working folder or above it. Go runs a test in the folder of its package.
func findScript() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		script := filepath.Join(folder, "build.sh")
		if _, err := os.Stat(script); err == nil {
			return script, nil
		}
		if filepath.Dir(folder) == folder {
			return "", fmt.Errorf("no build.sh of the e2e module in %s or above it", start)
		}
	}
}
