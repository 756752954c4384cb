package lwtest

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// No goroutine survives the tests. Those of the fuzzing machinery may.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		os.Exit(code)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
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

func TestForbiddenImports(t *testing.T) {
	const module = "github.com/seed-6d2a410a/listwatch"
	forbidden := map[string]map[string]string{
		".": {
			"net/http/httptest": "it registers flags in every program that embeds the server",
			"testing":           "the server is for demos too",
			module + "/lw":      "the server must not share a mistake with the client",
		},
		"./revlog": {
			"net/http":      "storage knows no transport",
			"time":          "a simulation brings its own clock",
			"sync":          "a simulation is a single thread",
			"encoding/json": "values are the caller's affair",
		},
	}
	for pkg, reasons := range forbidden {
		out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, pkg).Output()
		require.NoError(t, err)
		imports := strings.Fields(string(out))
		if pkg == "." {
			out, err = exec.Command("go", "list", "-deps", pkg).Output()
			require.NoError(t, err)
			imports = strings.Fields(string(out))
		}
		for path, reason := range reasons {
			require.False(t, slices.Contains(imports, path), "%s imports %s: %s", pkg, path, reason)
		}
	}
}
