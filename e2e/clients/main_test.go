// Package clients runs Kubernetes clients against lwtest's embedded server. The clients' caches must match the
// server's state, even after compactions, broken connections and outages. The package is a separate module because
// client-go has many dependencies.
package clients

import (
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())                                             // client-go logs each broken connection
	leak.Main(m, http.DefaultTransport.(*http.Transport).CloseIdleConnections) // client-go uses the default transport for servers without TLS
}
