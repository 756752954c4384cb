//go:build !js

package lw

import "log/slog"

func defaultLogger() Logger { return slog.Default() }
