package clientgo

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// After a restart, a proxy answers requests for Pods with an empty list of Services. The informer must keep the
// restored objects, although this process has not yet seen a list of Pods that it could compare with.
func TestRestoredInformerRejectsForeignList(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*lwtest.Options{"streaming lists": nil, "lists": {NoStreamingLists: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := lwtest.Start(opts)
			require.NoError(t, err)
			t.Cleanup(server.Close)
			extras := Extras{StateDir: t.TempDir()}
			putPod(t, server, "a", "n1")
			runUntil(t, server, extras, "add a@n1 true")
			putPod(t, server, "b", "n1")
			server.Compact() // the next run cannot resume and must list
			isList := func(r lwtest.Request) bool { return strings.HasSuffix(r.URL.Path, "/pods") && isList(r.URL.Query()) }
			repair := server.Fail(isList, -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				r = r.Clone(r.Context())
				r.URL.Path = strings.Replace(r.URL.Path, "/pods", "/services", 1)
				server.ServeHTTP(w, r)
			})
			informer := podInformerWith(t, server, extras)
			errs := make(chan error, 100)
			require.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { errs <- err }))
			var handler recorder
			_, err = informer.AddEventHandler(&handler)
			require.NoError(t, err)
			start(t, informer)
			eventually(t, func() bool {
				select {
				case err := <-errs:
					return strings.Contains(err.Error(), "expected a list of this resource")
				default:
					return false
				}
			})
			repair()
			handler.wait(t, "add a@n1 true", "add b@n1 false")
		})
	}
}
