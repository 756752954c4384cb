package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

// When the driver exits, its requests may still be in progress, so the suite must not replace the server's data. The
// race detector would report that.
func TestExitDuringRequests(t *testing.T) {
	trial := *all(1)[0]
	trial.rebuild = &hostile.Rebuilds()[2]
	require.False(t, trial.rebuild.Same)
	for range 10 { // a single run finds a race only in about half of the cases
		var requests sync.WaitGroup
		r := play(t.Context(), &trial, 0, func(ctx context.Context, url string, _ io.Writer) error {
			for range 50 {
				requests.Go(func() {
					for ctx.Err() == nil {
						if response, err := http.Get(url + "/api/v1/namespaces/shop/configmaps"); err == nil {
							_ = response.Body.Close()
						}
					}
				})
			}
			return errors.New("crashed")
		}, func(server *hostile.Server) (string, func()) {
			front := httptest.NewServer(server)
			return front.URL, front.Close
		})
		requests.Wait()
		require.Contains(t, r.violations(), "exit")
	}
}
