package http

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryAfterDate(t *testing.T) {
	now := time.Date(2026, 2, 28, 23, 59, 30, 500e6, time.UTC)
	for header, want := range map[string]string{
		"7": "7", "": "", "soon": "soon",
		now.Add(90 * time.Second).Format(http.TimeFormat):                   "90",
		now.Add(-time.Hour).Format(http.TimeFormat):                         "0",
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).Format(http.TimeFormat): "2147483647",
	} {
		require.Equal(t, want, retryAfter(header, now), "%q", header)
	}
}
