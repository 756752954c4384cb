//go:build js

package lw

import (
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
)

// defaultWarn logs to console.warn.
func defaultWarn(msg string, args ...any) {
	for i, arg := range args {
		if i%2 == 0 {
			msg += ", "
		} else {
			msg += ": "
		}
		switch arg := arg.(type) {
		case string:
			msg += arg
		case int:
			msg += strconv.Itoa(arg)
		case time.Duration:
			msg += arg.String()
		}
	}
	jsx.Warn(msg)
}
