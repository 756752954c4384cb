package kube_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// shared is a cluster that tests share if they do not stop or restart a server.
var shared kube.Shared

func TestMain(m *testing.M) {
	if os.Getenv(orphanEnv) != "" {
		startAndHang()
	}
	code := m.Run()
	shared.Close()
	os.Exit(code)
}

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	jsonType   = "application/json"
)

type list struct {
	Metadata struct{ ResourceVersion, Continue string }
	Items    []struct{ Metadata struct{ Name string } }
}

// do sends a request as the admin and requires the status code want. If the last argument is not nil, do decodes the
// response body into it.
func do(t *testing.T, c *kube.Cluster, want int, method, path, body string, into any) {
	t.Helper()
	code, got, err := c.Do(t.Context(), method, path, jsonType, body)
	require.NoError(t, err)
	require.Equal(t, want, code, "%s %s: %s", method, path, got)
	if into != nil {
		require.NoError(t, json.Unmarshal(got, into))
	}
}

func createConfigMap(t *testing.T, c *kube.Cluster, path, name string) {
	t.Helper()
	do(t, c, http.StatusCreated, http.MethodPost, path, `{"metadata":{"name":"`+name+`"}}`, nil)
}

// newNamespace creates a namespace and returns its generated name. A name cannot be reused, because no controller
// removes deleted namespaces.
func newNamespace(t *testing.T, c *kube.Cluster) string {
	t.Helper()
	var created struct{ Metadata struct{ Name string } }
	do(t, c, http.StatusCreated, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"generateName":"smoke-"}}`, &created)
	return created.Metadata.Name
}

func names(l list) (names []string) {
	for _, item := range l.Items {
		names = append(names, item.Metadata.Name)
	}
	return names
}

func TestServerVersion(t *testing.T) {
	c := shared.Get(t)
	var version struct{ GitVersion, Major, Minor string }
	do(t, c, http.StatusOK, http.MethodGet, "/version", "", &version)
	assert.Equal(t, "v"+cmp.Or(os.Getenv("KUBE"), "1.37.2"), version.GitVersion)
	assert.Equal(t, version.Major+"."+version.Minor, version.GitVersion[1:5])
}

func TestNamespaceAndConfigMap(t *testing.T) {
	c := shared.Get(t)
	path := "/api/v1/namespaces/" + newNamespace(t, c) + "/configmaps"
	createConfigMap(t, c, path, "one")
	var got list
	do(t, c, http.StatusOK, http.MethodGet, path, "", &got)
	assert.Equal(t, []string{"one"}, names(got))
}

func TestUsers(t *testing.T) {
	c := shared.Get(t)
	client := c.HTTPClient()
	defer client.CloseIdleConnections()
	for _, test := range []struct {
		name, token string
		want        int
	}{
		{"wrong token", "wrong", http.StatusUnauthorized},
		{"nobody", c.NobodyToken, http.StatusForbidden},
		{"admin", c.AdminToken, http.StatusOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, get(t, client, c.URL+configMaps, test.token))
		})
	}
}

func TestAdminByClientCertificate(t *testing.T) {
	c := shared.Get(t)
	pair, err := tls.LoadX509KeyPair(c.ClientCertFile, c.ClientKeyFile)
	require.NoError(t, err)
	client := c.HTTPClient()
	defer client.CloseIdleConnections()
	client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{pair}
	assert.Equal(t, http.StatusOK, get(t, client, c.URL+configMaps, ""))
}

// get returns the status code of a GET request. With an empty token, the request has no Authorization header.
func get(t *testing.T, client *http.Client, url, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer func() { assert.NoError(t, resp.Body.Close()) }()
	return resp.StatusCode
}

func TestKubectl(t *testing.T) {
	c := shared.Get(t)
	cmd := exec.CommandContext(t.Context(), c.Kubectl, "--kubeconfig", c.Kubeconfig, "--cache-dir", t.TempDir(),
		"get", "namespace", "default", "-o", "name")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "namespace/default\n", string(out))
}

func TestCreateCRD(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	require.NoError(t, c.CreateCRD(t.Context()))
	path := "/apis/lw.example.com/v1/namespaces/" + newNamespace(t, c) + "/widgets"
	do(t, c, http.StatusCreated, http.MethodPost, path,
		`{"apiVersion":"lw.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"any":["thing"]}}`, nil)
	var got list
	do(t, c, http.StatusOK, http.MethodGet, path, "", &got)
	assert.Equal(t, []string{"w"}, names(got))
	require.NoError(t, c.CreateCRD(t.Context()), "CreateCRD must succeed if the CRD already exists")
}

func TestCompactExpiresContinueTokens(t *testing.T) {
	t.Parallel() // the API server may notice the compaction only after 15 seconds
	c := shared.Get(t)
	path := "/api/v1/namespaces/" + newNamespace(t, c) + "/configmaps"
	createConfigMap(t, c, path, "page-1")
	createConfigMap(t, c, path, "page-2")
	var first list
	do(t, c, http.StatusOK, http.MethodGet, path+"?limit=1", "", &first)
	next := path + "?limit=1&continue=" + first.Metadata.Continue
	do(t, c, http.StatusOK, http.MethodGet, next, "", nil)
	require.NoError(t, c.Compact(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, kube.Poll(ctx, "the continue token to expire", func(ctx context.Context) error {
		code, _, err := c.Do(ctx, http.MethodGet, next, "", "")
		if err == nil && code != http.StatusGone {
			err = errors.New(http.StatusText(code))
		}
		return err
	}))
}
