package faults_test

import (
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// eventually waits up to 20 seconds for condition to become true, and reports whether it did.
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
