package lwtest

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	leak.Main(m, http.DefaultTransport.(*http.Transport).CloseIdleConnections)
}

func TestForbiddenImports(t *testing.T) {
	forbidden := map[string]map[string]string{
		".": {
			"net/http/httptest": "httptest registers flags in every program that embeds the server",
			"testing":           "programs that are not tests also use the server",
		},
		"../internal/revlog": {
			"net/http":      "storage does not depend on the transport",
			"time":          "simulations replace the clock",
			"sync":          "simulations use a single goroutine",
			"encoding/json": "values are opaque to the log",
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
			require.False(t, slices.Contains(imports, path), "%s must not import %s: %s", pkg, path, reason)
		}
	}
}

// The server must not share code with the client. Otherwise, a mistake in shared code would affect the server and the
// client in the same way, so no test could detect it.
func TestImportsOnlyStatusAndObjectFromClient(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, used := range regexp.MustCompile(`\blw\.([A-Z]\w*)`).FindAllStringSubmatch(string(text), -1) {
			require.Regexp(t, "^(Status.*|Object|ParseObject)$", used[1], name)
		}
	}
}
