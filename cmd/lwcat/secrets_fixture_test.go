package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/canary"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	"github.com/stretchr/testify/require"
)

// secretsFixture runs lwcat with all kinds of credentials against a server that misbehaves. The first part of a
// request's path selects how the server misbehaves.
type secretsFixture struct {
	t       *testing.T
	program string // path of lwcat
	inputs  string // folder with input files that contain secrets
	work    string // working directory and home directory of lwcat
	url     string // URL of the server
	port    string // port of the server
	proxy   string // address of a proxy that requires a password
	ca      string // path of the CA file
	secrets canary.Secrets
	token   string
	users   map[string]any // kubeconfig users by name
	configs int            // number of written kubeconfigs
}

func newSecretsFixture(t *testing.T) *secretsFixture {
	v := &secretsFixture{t: t, inputs: t.TempDir(), work: t.TempDir(), secrets: canary.Secrets{}}
	self, err := os.Executable()
	require.NoError(t, err)
	v.program = filepath.Join(t.TempDir(), "lwcat") // the test binary acts as lwcat under this name
	require.NoError(t, os.Symlink(self, v.program))
	v.token = v.secrets.New("token")
	authority := certs.NewAuthority(t)
	v.ca = v.input("ca.crt", string(authority.PEM))
	v.serve(authority)
	v.addUsers(authority)
	return v
}

// input writes a file for lwcat to read, and returns its path.
func (v *secretsFixture) input(name, text string) string {
	path := filepath.Join(v.inputs, name)
	writeProgram(v.t, path, text)
	return path
}

// serve starts the proxy and the server, which accepts the token and the client certificate.
func (v *secretsFixture) serve(authority *certs.Authority) {
	v.url = canary.Serve(v.t, v.secrets, authority, v.token, `{"metadata":{"name":"settings"},"data":{"k":"v"}}`)
	v.port = v.url[strings.LastIndexByte(v.url, ':'):]
	tunnel := httptest.NewServer(wire.Proxy(func(string, string) (net.Conn, error) { return net.Dial("tcp", "127.0.0.1"+v.port) }))
	v.t.Cleanup(tunnel.Close)
	v.proxy = tunnel.Listener.Addr().String()
}

// addUsers adds users with all kinds of credentials.
func (v *secretsFixture) addUsers(authority *certs.Authority) {
	cert, key := authority.Issue(v.t, "jane")
	for i, line := range strings.Split(string(key), "\n") {
		if len(line) > 40 && line[0] != '-' {
			v.secrets.Add("line "+strconv.Itoa(i)+" of the key", line)
		}
	}
	encoded := func(text []byte) string { return base64.StdEncoding.EncodeToString(text) }
	plugin := func(status map[string]any, code string) map[string]any {
		text, err := json.Marshal(map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})
		require.NoError(v.t, err)
		path := v.input("plugin"+strconv.Itoa(len(v.users)), "#!/bin/sh\ncat <<'end'\n"+string(text)+"\nend\nexit "+code+"\n")
		return map[string]any{"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1", "command": path, "interactiveMode": "Never", "provideClusterInfo": true,
			"args": []string{"--client-secret", v.secrets.New("the plugin's argument")},
			"env":  []map[string]string{{"name": "API_KEY", "value": v.secrets.New("the plugin's variable")}},
		}}
	}
	v.users = map[string]any{"token": map[string]any{"token": v.token}}
	v.users["tokenFile"] = map[string]any{"tokenFile": v.input("token", v.token)}
	v.users["certificate"] = map[string]any{"client-certificate-data": encoded(cert), "client-key-data": encoded(key)}
	v.users["files"] = map[string]any{"client-certificate": v.input("crt", string(cert)), "client-key": v.input("key", string(key))}
	v.users["plugin"] = plugin(map[string]any{"token": v.token}, "0")
	v.users["pluginsCertificate"] = plugin(map[string]any{"clientCertificateData": string(cert), "clientKeyData": string(key)}, "0")
	v.users["pluginThatFails"] = plugin(map[string]any{"token": v.token}, "1")
	v.users["pluginOfNothing"] = plugin(map[string]any{"tokem": v.token}, "0")
	v.users["basic"] = map[string]any{"username": "jane", "password": v.secrets.New("the password")}
	v.users["halfAKey"] = map[string]any{"client-certificate-data": encoded(cert), "client-key-data": encoded(key[:len(key)/2])}
	v.users["notBase64"] = map[string]any{"client-certificate-data": encoded(cert), "client-key-data": "!" + v.secrets.New("a broken key")}
}

// kubeconfigFor writes a kubeconfig with a user, a path on the server and additional cluster fields. It returns the
// kubeconfig's path.
func (v *secretsFixture) kubeconfigFor(user, path string, cluster map[string]any) string {
	all := map[string]any{"server": v.url + path, "certificate-authority": v.ca}
	maps.Copy(all, cluster)
	text, err := json.Marshal(map[string]any{
		"current-context": "x",
		"contexts":        []any{map[string]any{"name": "x", "context": map[string]any{"cluster": "c", "user": user}}},
		"clusters":        []any{map[string]any{"name": "c", "cluster": all}},
		"users":           []any{map[string]any{"name": user, "user": v.users[user]}},
	})
	require.NoError(v.t, err)
	v.configs++
	return v.input("config"+strconv.Itoa(v.configs), string(text))
}

// command returns a command that runs lwcat with a minimal environment and the variables in env.
func (v *secretsFixture) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(v.t.Context(), v.program, args...)
	cmd.Dir = v.work
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.work, "TMPDIR=" + v.work, "XDG_CACHE_HOME=" + v.work, "KUBECONFIG=" + filepath.Join(v.inputs, "none"),
		"GORACE=" + os.Getenv("GORACE")}, env...)
	return cmd
}

// run runs lwcat until it exits and checks that standard error contains no secrets. It returns the exit code and
// standard output.
func (v *secretsFixture) run(env []string, args ...string) (code int, out string) {
	v.t.Helper()
	cmd := v.command(env, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(v.t, err)
	}
	v.secrets.Absent(v.t, strings.Join(args, " "), stderr.String())
	return cmd.ProcessState.ExitCode(), stdout.String()
}
