//go:build unix && !js

package http_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/internal/secretfile"
	"github.com/stretchr/testify/require"
)

// The transport must reject a named pipe, because a read of the pipe could block. It must also reject a device, because
// its content may never end.
func TestCredentialFilesAreRegular(t *testing.T) {
	folder := t.TempDir()
	pipe, large := filepath.Join(folder, "pipe"), filepath.Join(folder, "large")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 4<<20))
	for path, problem := range map[string]string{
		pipe: "is not a regular file", large: "is larger than the limit of 1 MiB", "/dev/zero": "is not a regular file",
	} {
		for name, opts := range map[string]*lwhttp.Options{
			"token file": {TokenFile: path}, "certificate authority file": {CAFile: path}, "client certificate file": {CertFile: path, KeyFile: path},
		} {
			_, err := lwhttp.New("https://k8s.example", opts)
			require.EqualError(t, err, fmt.Sprintf("http: %s %q %s", name, path, problem))
		}
	}
}

func TestTokenFileReplacedByPipe(t *testing.T) {
	path := write(t, t.TempDir(), "token", []byte("first"))
	synctest.Test(t, func(t *testing.T) {
		transport, sent := authorized(t, &lwhttp.Options{TokenFile: path})
		require.NoError(t, os.Remove(path))
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		time.Sleep(time.Minute)
		_, err := get(t, transport, pods)
		require.NoError(t, err)
		require.Equal(t, []string{"Bearer first"}, *sent)
	})
}

// Even if reading a file blocks, a request must fail when its context is done. The next request uses the old token.
func TestCancellationEndsWaitForBlockedFile(t *testing.T) {
	folder := t.TempDir()
	token, authority := write(t, folder, "token", []byte("first")), write(t, folder, "ca", certs.NewAuthority(t).PEM)
	for name, opts := range map[string]*lwhttp.Options{
		"token file": {TokenFile: token, Client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		})}},
		"CA file": {CAFile: authority},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport, err := lwhttp.New("https://k8s.example", opts)
				require.NoError(t, err)
				answer := make(chan struct{})
				defer func() { close(answer); synctest.Wait() }()
				transport.ReadFiles(func(name, path string) ([]byte, error) {
					<-answer
					return secretfile.Read(name, path)
				})
				time.Sleep(time.Minute)
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err = transport.Open(ctx, pods)
				require.Equal(t, context.DeadlineExceeded, err)
				require.Equal(t, 5*time.Second, time.Since(began))
				if name == "token file" {
					_, err = get(t, transport, pods)
					require.NoError(t, err)
				}
			})
		})
	}
}

// A request may be canceled while it reads a file, so the read may end later. The race detector must then find no
// access to the results of the canceled request.
func TestReadOutlivesCanceledRequest(t *testing.T) {
	authority := write(t, t.TempDir(), "ca", certs.NewAuthority(t).PEM)
	transport, err := lwhttp.New("https://127.0.0.1:1", &lwhttp.Options{CAFile: authority})
	require.NoError(t, err)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		read := make(chan struct{})
		transport.ReadFiles(func(name, path string) ([]byte, error) {
			defer close(read)
			cancel() // the request returns during the rest of this read
			return secretfile.Read(name, path)
		})
		transport.Age()
		_, err := transport.Open(ctx, pods)
		require.ErrorIs(t, err, context.Canceled)
		<-read
	}
}

// After a 401, the transport reads the token file again. Even if that read blocks, the request must fail when its
// context is done.
func TestRejectedTokenRereadsFile(t *testing.T) {
	path := write(t, t.TempDir(), "token", []byte("first"))
	synctest.Test(t, func(t *testing.T) {
		network := &tokenServer{good: "second"}
		transport := network.transport(t, lwhttp.Options{TokenFile: path})
		answer := make(chan struct{})
		defer func() { close(answer); synctest.Wait() }()
		transport.ReadFiles(func(string, string) ([]byte, error) { <-answer; return nil, nil })
		for range 2 { // the second request waits for the read that the first request started
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := transport.Open(ctx, pods)
			cancel()
			require.Equal(t, context.DeadlineExceeded, err)
		}
		require.Zero(t, network.open, "all response bodies must be closed")
	})
}
