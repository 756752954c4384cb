package cache

import (
	"log/slog"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // discards warnings, because many tests interrupt streams
	leak.Main(m)
}

// eventually polls until the condition is true and returns true. It returns false if the condition is still false after
// 20 seconds.
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
