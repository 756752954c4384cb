//go:build !js

package lw

import "log/slog"

// defaultLogger returns the logger that is the default of the program now.
func defaultLogger() Logger { return slog.Default() }
