package main

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// BenchmarkStart measures how long the stripped program takes from its start to its first request, and to its first
// list. TestRequestsBeforeTheFirstList limits how many requests it sends in that time.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "lwcat")
	build, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput()
	require.NoError(b, err, "%s", build)
	for _, name := range []string{"/api/v1/pods", "deployments"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			var first, list time.Duration
			for range b.N {
				server, err := lwtest.Start(nil)
				require.NoError(b, err)
				cmd := exec.CommandContext(b.Context(), binary, "-s", server.URL, "--once", name)
				var arrived []time.Time // arrival times of all requests up to the list
				server.Fail(func(r lwtest.Request) bool {
					arrived = append(arrived, time.Now())
					return r.Verb != ""
				}, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })
				began := time.Now()
				require.NoError(b, cmd.Run())
				first += arrived[0].Sub(began)
				list += arrived[len(arrived)-1].Sub(began)
				server.Close()
			}
			b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "ms/first-request")
			b.ReportMetric(float64(list.Microseconds())/1000/float64(b.N), "ms/first-list")
		})
	}
}
