package kube

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// Binaries returns the folder that contains the programs kube and kubectl. If they do not exist, it skips the test, or
// fails it in CI; see [need.Missing].
func Binaries(t testing.TB) string {
	t.Helper()
	folder, err := locate()
	if errors.Is(err, kubeassets.ErrNotBuilt) {
		need.Missing(t, "%v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return folder
}

// Start starts a cluster for one test and closes it when the test ends. If the test fails, it logs the last lines of
// the servers' logs. If the binaries do not exist, it skips or fails the test like [Binaries]. The flags are passed to
// [New].
func Start(t testing.TB, apiServerFlags ...string) *Cluster {
	t.Helper()
	Binaries(t)
	c, err := New(t.Context(), apiServerFlags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.logOnFailure(t)
	return c
}

// Shared is a cluster for all tests of a package. The first call to Get starts it:
//
//	var shared kube.Shared
//
//	func TestMain(m *testing.M) {
//		code := m.Run()
//		shared.Close()
//		os.Exit(code)
//	}
//
// Get may be called concurrently. Close must be called after all tests.
type Shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

// Get returns the cluster. If the binaries do not exist, it skips or fails the test like [Binaries].
func (s *Shared) Get(t testing.TB) *Cluster {
	t.Helper()
	Binaries(t)
	s.once.Do(func() {
		s.cluster, s.err = New(context.Background()) // the cluster must outlive the test and its context
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

// logOnFailure logs the last lines of the servers' logs if the test fails.
func (c *Cluster) logOnFailure(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the kube-apiserver's log:\n%s", tail(c.path(apiserverLog)))
			t.Logf("end of etcd's log:\n%s", tail(c.path(etcdLog)))
		}
	})
}
