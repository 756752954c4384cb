//go:build !js

package http

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// retryAfter converts a Retry-After header to seconds. A date is rounded up to the next second.
// https://www.rfc-editor.org/rfc/rfc9110.html#field.retry-after
func retryAfter(header string, now time.Time) string {
	date, err := http.ParseTime(header)
	if err != nil {
		return header
	}
	seconds := math.Ceil(date.Sub(now).Seconds())
	return strconv.FormatInt(int64(min(max(seconds, 0), math.MaxInt32)), 10)
}
