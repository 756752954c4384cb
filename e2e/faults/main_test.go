package faults_test

import (
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

// TestMain fails if goroutines remain after the tests.
func TestMain(m *testing.M) { leak.Main(m) }

// eventually polls a condition for up to 20 seconds. It reports whether the condition became true.
func eventually(condition func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !condition(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
