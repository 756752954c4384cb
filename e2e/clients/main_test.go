// Package clients runs real Kubernetes clients against the embedded server of lwtest: what they hold must be what it has,
// after compactions, broken connections and a kill -9 as well. It is a module of its own because client-go is large.
package clients

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// No goroutine survives the tests.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // client-go logs every connection that the tests break
	before := runtime.NumGoroutine()
	code := m.Run()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() // client-go uses it for plain HTTP
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%d goroutines at the start, %d at the end:\n%s\n", before, n, buf[:runtime.Stack(buf, true)])
		code = 1
	}
	os.Exit(code)
}
