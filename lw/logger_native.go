//go:build !js

package lw

import "log/slog"

func defaultWarn(msg string, args ...any) { slog.Default().Warn(msg, args...) }
