//go:build !js

package wire

import (
	"net/http/httptest"
	"testing"
)

// URL starts a test server and returns its URL. The server stops when the test ends.
func URL(t *testing.T) string {
	server := httptest.NewServer(Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}
