//go:build !js

package lw

import (
	"log/slog"
	"os"
	"testing"
)

// TestMain discards the default log, because many tests interrupt streams.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}
