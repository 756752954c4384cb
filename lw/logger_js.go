//go:build js

package lw

import "github.com/seed-6d2a410a/listwatch/internal/jsx"

// defaultWarn logs to console.warn. It does not use log/slog, which imports fmt and would enlarge the WASM module.
func defaultWarn(msg string, args ...any) { jsx.Warn(jsx.LogText(msg, args...)) }
