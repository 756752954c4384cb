//go:build !js

package lw

import "log/slog"

// defaultWarn logs to slog.Default().
func defaultWarn(msg string, args ...any) { slog.Default().Warn(msg, args...) }
