//go:build !js

package lw

import "log/slog"

// defaultLogger returns the current default logger of the program.
func defaultLogger() Logger { return slog.Default() }
