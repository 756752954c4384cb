//go:build !js

package wire

import (
	"net/http/httptest"
	"testing"
)

// URL starts a server for a test, and returns its URL.
func URL(t *testing.T) string {
	server := httptest.NewServer(Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}
