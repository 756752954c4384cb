package kube_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// If the environment variable orphanEnv is set, the test binary runs startAndHang instead of the tests.
const orphanEnv = "LISTWATCH_KUBE_TEST_ORPHAN"

// startAndHang starts a cluster, prints its URL, and blocks forever.
func startAndHang() {
	c, err := kube.New(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.URL)
	select {}
}

// TestServersDieWithTheirParent sends SIGKILL to a process that has started a cluster. The process then cannot stop its
// servers itself, but they must still exit.
func TestServersDieWithTheirParent(t *testing.T) {
	kube.Binaries(t)
	folder, err := os.MkdirTemp("", "listwatch-orphan-")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), orphanEnv+"=1", "TMPDIR="+folder)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	parsed, err := url.Parse(strings.TrimSpace(line))
	require.NoError(t, err)

	require.NoError(t, dial(parsed.Host))
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), "Wait must report the SIGKILL")
	require.NoError(t, kube.Poll(ctx, "the kube-apiserver to exit", func(context.Context) error {
		if dial(parsed.Host) == nil {
			return errors.New("the port still accepts connections")
		}
		return nil
	}))
	// RemoveAll can fail until etcd has exited.
	require.NoError(t, kube.Poll(ctx, "the files to be removed", func(context.Context) error {
		return os.RemoveAll(folder)
	}))
}

// dial returns an error if no process listens on the address.
func dial(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func TestNewReportsServerLog(t *testing.T) {
	kube.Binaries(t)
	_, err := kube.New(t.Context(), "--no-such-flag")
	require.ErrorContains(t, err, "no-such-flag")
}

func TestNewStopsWithTheContext(t *testing.T) {
	kube.Binaries(t)
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := kube.New(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)
}

// If this package imported Kubernetes or etcd, each test binary would take minutes to compile. For the same reason, the
// packages "need" and "kubeassets", which this package imports, must not import Kubernetes or etcd.
func TestImportsOnlyTheStandardLibrary(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range []string{"need", "kubeassets"} {
		imported, err := filepath.Glob("../../internal/testkit/" + name + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, imported)
		files = append(files, imported...)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			switch path {
			case "github.com/seed-6d2a410a/listwatch/internal/testkit/need", "github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets":
				continue
			}
			first, _, _ := strings.Cut(path, "/")
			assert.NotContains(t, first, ".", "%s imports %s", name, path)
		}
	}
}
