// Package clients runs real Kubernetes clients against the embedded server of lwtest: what they hold must be what it has,
// after compactions, broken connections and a kill -9 as well. It is a module of its own because client-go is large.
package clients

import (
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())                                             // client-go logs every connection that the tests break
	leak.Main(m, http.DefaultTransport.(*http.Transport).CloseIdleConnections) // which client-go uses for plain HTTP
}
