//go:build !js

package http

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// retryAfter returns a Retry-After header in seconds. It converts a date and rounds the result up. It returns any other
// header unchanged.
func retryAfter(header string, now time.Time) string {
	date, err := http.ParseTime(header)
	if err != nil {
		return header
	}
	seconds := math.Ceil(date.Sub(now).Seconds())
	return strconv.FormatInt(int64(min(max(seconds, 0), math.MaxInt32)), 10)
}
