package lw

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 2, 28, 23, 59, 30, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0": 0, "": 0, "-1": 0, "1.5": 0, "soon": 0,
		"Sun, 01 Mar 2026 00:01:00 GMT":  90 * time.Second,
		"Sat, 28 Feb 2026 23:59:30 GMT":  0,
		"Sat, 28 Feb 2025 23:59:30 GMT":  0,
		"Sun, 01 Mar 2026 00:01:00 UTC":  0,
		"Sun, 01 Mrz 2026 00:01:00 GMT":  0,
		"Sun, 99 Mar 2026 00:01:00 GMT":  0,
		"Sun, xx Mar 2026 00:01:00 GMT":  0,
		"Sun, 01 Mar 9999 00:01:00 GMT":  math.MaxInt32 * time.Second,
		"Sun, 01 Mar 2026 00:01:00 GMT ": 0,
	} {
		require.Equal(t, want, parseRetryAfter(header, now), "%q", header)
	}
}

func TestDatesAreReadAsNetHTTPReadsThem(t *testing.T) {
	for at := time.Unix(0, 0); at.Year() < 2100; at = at.Add(9_999_991 * time.Second) {
		date, ok := parseDate(at.UTC().Format(http.TimeFormat))
		require.True(t, ok)
		require.Equal(t, at.UTC(), date)
	}
}
