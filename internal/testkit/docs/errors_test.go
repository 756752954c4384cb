package docs

import (
	"crypto/x509"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

const troubleshooting = root + "/docs/troubleshooting.md"

// messages returns all strings that may be part of an error message. These are the string literals of the Go code, the
// lines of the JavaScript code, and the messages of sample errors.
func messages(t *testing.T) (all []string) {
	t.Helper()
	for _, err := range produced(t) {
		all = append(all, err.Error())
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "node_modules" || entry.Name() == "testdata" || entry.Name() == "internal" && filepath.Dir(path) == root:
			return fs.SkipDir
		case strings.HasPrefix(path, filepath.Join(root, "wasm")) && strings.HasSuffix(path, ".js"):
			text, err := os.ReadFile(path)
			all = append(all, strings.Split(string(text), "\n")...)
			return err
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			all = append(all, literals(t, path)...)
		}
		return nil
	}))
	return all
}

func literals(t *testing.T, path string) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			all = append(all, text)
		}
		return true
	})
	return all
}

// produced returns errors from real failures. Their messages are assembled from several string literals.
func produced(t *testing.T) []error {
	t.Helper()
	status := func(code int, reason, message string) error {
		return &lw.StatusError{Code: code, Reason: reason, Message: message}
	}
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, []byte(`{"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
		"clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1"}}], "users": [{"name": "a", "user": {"exec": {
		"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "/none/login"}}}]}`), 0o600))
	unusable := cache.NewReflector[*lw.Object](nil, nil).Restore(strings.NewReader("x"), "", lw.ParseObject)
	_, plugin := kubeconfig.Load(&kubeconfig.Options{Path: config})
	require.NoError(t, os.WriteFile(config, []byte(`{"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
		"clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1"}}],
		"users": [{"name": "a", "user": {"client-certificate-data": "eA==", "client-key": "/none"}}]}`), 0o600))
	_, key := kubeconfig.Load(&kubeconfig.Options{Path: config})
	return []error{
		plugin, key, syscall.ECONNREFUSED, syscall.ECONNRESET, io.ErrUnexpectedEOF, x509.UnknownAuthorityError{},
		http.ErrSchemeMismatch,
		invalid.ErrVersionRegressed, invalid.ErrReplaced, invalid.ErrNoInitialEnd, invalid.ErrNotList, invalid.ErrNoProgress, invalid.ErrInconsistentPages, invalid.ErrShardIgnored,
		status(401, "Unauthorized", "Unauthorized"), status(403, "Forbidden", "pods is forbidden"), status(404, "", "404 page not found"),
		status(410, "Expired", "too old resource version: 125 (128)"), status(500, "InternalError", "x"), status(400, "BadRequest", "x"),
		status(429, "", "Too many requests, please try again later."),
		status(504, "Timeout", "Timeout: Too large resource version: 9, current: 7"),
		&lw.MalformedError{}, &lw.FrameTooLargeError{}, &lw.DecodeError{Err: &codec.FieldError{Field: "spec.replicas"}}, &codec.FieldError{Field: "kind"},
		unusable, &ws.CloseError{Code: 1011},
	}
}

func TestQuotedErrorsExist(t *testing.T) {
	all := messages(t)
	quoted := 0
	for _, row := range Tables(prose(t, troubleshooting)) {
		for column, cell := range row.Cells {
			if !strings.HasPrefix(row.Header[column], "text") {
				continue
			}
			for _, span := range Span.FindAllStringSubmatch(cell, -1) {
				require.True(t, contains(all, span[1]), "no error message contains %s", span[1])
				quoted++
			}
		}
	}
	require.Greater(t, quoted, 40)
	require.False(t, contains(all, "an error that does not exist"))
}

// contains reports whether a string in all contains text, in which "…" stands for any characters.
func contains(all []string, text string) bool {
	pattern := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(text), "…", ".*"))
	for _, one := range all {
		if pattern.MatchString(one) {
			return true
		}
	}
	return false
}

var code = regexp.MustCompile(`'([a-z-]+)'`)

func TestEveryErrorIsDocumented(t *testing.T) {
	text := prose(t, troubleshooting)
	apis, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	require.NoError(t, err)
	exported := regexp.MustCompile(`(?m)^(?:var|type) (Err[A-Z]\w+|\w+Error)\b`)
	names := 0
	for _, api := range apis {
		if filepath.Base(api) == "lw-lwtest.txt" {
			continue
		}
		declared, err := os.ReadFile(api)
		require.NoError(t, err)
		for _, match := range exported.FindAllStringSubmatch(string(declared), -1) {
			require.Regexp(t, "`[a-z]*\\.?"+match[1]+"`", text, "%s does not mention %s", troubleshooting, match[1])
			names++
		}
	}
	require.Greater(t, names, 20)
	declarations, err := os.ReadFile(filepath.Join(root, "wasm", "index.d.ts"))
	require.NoError(t, err)
	_, codes, _ := strings.Cut(string(declarations), "type ErrorCode =")
	codes, _, _ = strings.Cut(codes, "export class")
	for _, match := range code.FindAllStringSubmatch(codes, -1) {
		require.Contains(t, text, "`"+match[1]+"`")
	}
}
