//go:build !js

package kubeconfig_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// playPlugin implements a credential plugin in the test binary. It records its input in folder, runs the commands
// in folder/do, and returns the exit code.
func playPlugin(folder string) int {
	note, _ := os.OpenFile(filepath.Join(folder, "runs"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	_, _ = note.WriteString(strings.Join(os.Args[1:], " ") + " " + os.Getenv("KUBERNETES_EXEC_INFO") + "\n")
	_ = note.Close()
	script, _ := os.ReadFile(filepath.Join(folder, "do"))
	for line := range strings.Lines(string(script)) {
		command, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch command {
		case "say":
			_, _ = os.Stderr.WriteString(text + "\n")
		case "print":
			_, _ = os.Stdout.WriteString(text)
		case "hang":
			_, _ = os.Stderr.WriteString("hanging\n")
			_ = os.WriteFile(filepath.Join(folder, "hangs"), nil, 0o600)
			hang()
		case "wait": // blocks until the folder of the test is removed
			for _, err := os.Stat(folder); err == nil; _, err = os.Stat(folder) {
				time.Sleep(10 * time.Millisecond)
			}
		case "child":
			child := exec.Command(os.Args[0]) // the child process keeps the plugin's standard output open
			child.Env = append(os.Environ(), "LISTWATCH_PLUGIN="+folder+"/child")
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
			_ = child.Start()
		case "exit":
			return len(text)
		}
	}
	return 0
}

// hang blocks until the process is killed. It does not use an empty select, because Go would report that as a deadlock
// in a program without cgo.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// plugin configures the test binary as a credential plugin.
type plugin struct {
	t      *testing.T
	folder string
}

func newPlugin(t *testing.T) *plugin { return &plugin{t, t.TempDir()} }

// user returns the user fields of a kubeconfig that runs this plugin. `more` contains additional exec fields.
func (p *plugin) user(more string) string {
	if !strings.Contains(more, "apiVersion") {
		more += ", apiVersion: client.authentication.k8s.io/v1"
	}
	if !strings.Contains(more, "interactiveMode") {
		more += ", interactiveMode: Never"
	}
	return "exec: {command: '" + os.Args[0] + "', env: [{name: LISTWATCH_PLUGIN, value: '" + p.folder + "'}, {name: MY_SECRET, value: hunter2}, {name: GORACE, value: atexit_sleep_ms=0}]" + more + "}"
}

func (p *plugin) setCommands(lines ...string) {
	write(p.t, p.folder+"/do", strings.Join(lines, "\n")+"\n")
}

// setStatus makes the plugin print an ExecCredential with this status.
func (p *plugin) setStatus(status string) {
	p.setCommands(`print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{` + status + `}}`)
}

// runs returns the recorded input of each plugin run.
func (p *plugin) runs() []string {
	text, _ := os.ReadFile(p.folder + "/runs")
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// ask calls the CredentialFunc, which runs the plugin, and returns the credential.
func ask(ctx context.Context, config *kubeconfig.Config) (*lwhttp.Credential, error) {
	return config.HTTP.CredentialFunc(ctx, nil)
}

func TestPluginTokens(t *testing.T) {
	onlyFile(t)
	s, p := newServer(t, true), newPlugin(t)
	p.setStatus(`"token":"t1"`)
	config := load(t, file(t, s.cluster(), p.user("")))
	for range 3 {
		text, err := identity(t.Context(), t, config)
		require.NoError(t, err)
		require.Equal(t, "t1", text)
	}
	require.Len(t, p.runs(), 1)

	s.rejected.Store("t1")
	p.setStatus(`"token":"t2","expirationTimestamp":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`)
	for range 2 {
		text, err := identity(t.Context(), t, config)
		require.NoError(t, err)
		require.Equal(t, "t2", text)
	}
	require.Len(t, p.runs(), 2)

	s.rejected.Store("t2")
	before := s.requests.Load()
	_, err := identity(t.Context(), t, config)
	require.ErrorContains(t, err, "401")
	require.Equal(t, before+1, s.requests.Load(), "the rejected token must not be sent again")
	p.setCommands("say please log in", "exit 1")
	_, err = identity(t.Context(), t, config)
	require.ErrorContains(t, err, "exit status 1", "the plugin's error must replace the 401")

	p.setStatus(`"token":"t3","expirationTimestamp":"2001-01-01T00:00:00Z"`)
	runs := len(p.runs())
	for range 2 {
		text, err := identity(t.Context(), t, config)
		require.NoError(t, err)
		require.Equal(t, "t3", text)
	}
	require.Len(t, p.runs(), runs+2, "an expired token must not be reused")
	s.rejected.Store("t3")
	_, err = identity(t.Context(), t, config)
	require.ErrorIs(t, err, lw.ErrUnauthorized)
	require.ErrorContains(t, err, "the new credential expired at 2001-01-01T00:00:00Z")
}

// The client must use the plugin's certificate until it expires.
func TestPluginCertificates(t *testing.T) {
	onlyFile(t)
	s, p := newServer(t, true), newPlugin(t)
	give := func(name string, until time.Time) {
		cert, key := s.authority.IssueBetween(t, until.Add(-time.Hour), until, name)
		p.setStatus(`"clientCertificateData":` + quoted(cert) + `,"clientKeyData":` + quoted(key))
	}
	give("jane", time.Now().Add(time.Hour))
	config := load(t, file(t, s.cluster(), p.user("")))
	text, err := identity(t.Context(), t, config)
	require.NoError(t, err)
	require.Equal(t, "jane", text)
	s.rejected.Store("jane")
	give("joe", time.Now().Add(-time.Minute))
	_, err = identity(t.Context(), t, config)
	require.Error(t, err, "the server must reject the expired certificate")
	give("ann", time.Now().Add(time.Hour))
	text, err = identity(t.Context(), t, config)
	require.NoError(t, err)
	require.Equal(t, "ann", text, "the plugin must run again after joe's certificate expires")
}

// A credential expires at its expirationTimestamp or with its certificate, whichever is earlier.
func TestPluginRunsAgainAfterExpiry(t *testing.T) {
	onlyFile(t)
	authority, past, future := certs.NewAuthority(t), time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		timestamp, certificate time.Time
		runs                   int // after two requests
	}{
		"both are valid":             {future, future, 1},
		"the certificate is expired": {future, past, 2},
		"the timestamp has passed":   {past, future, 2},
	} {
		p := newPlugin(t)
		cert, key := authority.IssueBetween(t, c.certificate.Add(-time.Hour), c.certificate, "jane")
		p.setStatus(`"clientCertificateData":` + quoted(cert) + `,"clientKeyData":` + quoted(key) + `,"expirationTimestamp":"` + c.timestamp.UTC().Format(time.RFC3339) + `"`)
		config := load(t, file(t, "server: https://127.0.0.1:1", p.user("")))
		for range 2 {
			_, err := ask(t.Context(), config)
			require.NoError(t, err, name)
		}
		require.Len(t, p.runs(), c.runs, name)
	}
}

func quoted(pem []byte) string { return `"` + strings.ReplaceAll(string(pem), "\n", `\n`) + `"` }

func TestPluginsReceiveClusterInfo(t *testing.T) {
	home := onlyFile(t)
	a := certs.NewAuthority(t)
	cluster := "server: https://127.0.0.1:1; tls-server-name: api.test; proxy-url: http://p:1; certificate-authority: " + write(t, home+"/ca", a.PEM) +
		"; extensions: [{name: other, extension: 1}, {name: client.authentication.k8s.io/exec, extension: {audience: [a, 1, true, null]}}]"
	for version, more := range map[string]string{"v1": "", "v1beta1": ", interactiveMode: ~"} {
		p := newPlugin(t)
		p.setCommands(`print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/` + version + `","status":{"token":"t1"}}`)
		more = ", apiVersion: client.authentication.k8s.io/" + version + more + ", args: [get, 'the token']"
		given, err := ask(t.Context(), load(t, file(t, cluster, p.user(more))))
		require.NoError(t, err)
		require.Equal(t, "t1", given.Token)
		_, err = ask(t.Context(), load(t, file(t, cluster, p.user(more+", provideClusterInfo: true"))))
		require.NoError(t, err)
		runs := p.runs()
		head := `get the token {"apiVersion":"client.authentication.k8s.io/` + version + `","kind":"ExecCredential","spec":{`
		require.Equal(t, head+`"interactive":false}}`, runs[0])
		require.Equal(t, head+`"cluster":{"server":"https://127.0.0.1:1","tls-server-name":"api.test","certificate-authority-data":"`+b64(a.PEM)+
			`","proxy-url":"http://p:1","config":{"audience":["a",1,true,null]}},"interactive":false}}`, runs[1])
	}
}

// Each error must name the mistake. Options.Stderr receives the plugin's messages, which errors must not quote, because
// they may contain secrets.
func TestPluginFailures(t *testing.T) {
	onlyFile(t)
	const server = "server: https://127.0.0.1:1"
	for name, c := range map[string]struct {
		does       []string
		want, said string
	}{
		"failure with messages":     {[]string{"say a", "say hunter2 pa55word", "exit 2"}, ": exit status 1", "a\nhunter2 pa55word\n"},
		"failure without messages":  {[]string{"exit 2"}, ": exit status 1", ""},
		"empty output":              {[]string{"say b"}, "the output is not an ExecCredential in JSON", "b\n"},
		"output that is not JSON":   {[]string{"print pa55word"}, "the output is not an ExecCredential in JSON", ""},
		"wrong kind":                {[]string{`print {"kind":"pa55word"}`}, "the output is not an ExecCredential", ""},
		"wrong version":             {[]string{`print {"kind":"ExecCredential","apiVersion":"pa55word"}`}, "must have the apiVersion client.authentication.k8s.io/v1 ", ""},
		"no status":                 {[]string{`print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}`}, "the output contains neither a token nor", ""},
		"invalid time":              {[]string{`print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"pa55word","expirationTimestamp":"pa55word"}}`}, "not an ExecCredential", ""},
		"key without a certificate": {[]string{`print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"pa55word"}}`}, "the output contains an invalid client certificate or key", ""},
	} {
		p := newPlugin(t)
		p.setCommands(c.does...)
		var said strings.Builder
		config, err := kubeconfig.Load(&kubeconfig.Options{Path: file(t, server, p.user("")), Stderr: &said})
		require.NoError(t, err, name)
		_, err = ask(t.Context(), config)
		var typed *kubeconfig.Error
		require.ErrorAs(t, err, &typed, name)
		require.ErrorContains(t, err, `user "dev": exec: the credential plugin `+os.Args[0], name)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "pa55word", name)
		require.NotContains(t, err.Error(), "hunter2", name)
		require.Equal(t, c.said, said.String(), name)
	}
	p := newPlugin(t)
	p.setCommands("exit 1")
	_, err := identity(t.Context(), t, load(t, file(t, server, p.user(""))))
	var typed *kubeconfig.Error
	require.ErrorAs(t, err, &typed, "the transport must return the plugin's error")
	require.Equal(t, "log in again, or run "+os.Args[0]+" manually", typed.Hint)
}

// A plugin must be killed when the context of the request ends, even if a child process keeps its output open.
func TestHangingPlugins(t *testing.T) {
	onlyFile(t)
	for _, commands := range [][]string{{"hang"}, {"child", "hang"}} {
		p := newPlugin(t)
		p.setCommands(commands...)
		write(t, p.folder+"/child/do", "wait\n")
		config := load(t, file(t, "server: https://127.0.0.1:1", p.user("")))
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 2)
		for range 2 { // the second call waits until the first call ends
			go func() {
				_, err := identity(ctx, t, config)
				failed <- err
			}()
		}
		require.Eventually(t, func() bool { _, err := os.Stat(p.folder + "/hangs"); return err == nil }, time.Minute, 5*time.Millisecond)
		enough := errors.New("enough")
		cancel(enough)
		said := ""
		for range 2 {
			err := <-failed
			require.ErrorIs(t, err, enough)
			said += err.Error()
		}
		require.Contains(t, said, os.Args[0]+": enough", "the error must name the plugin")
	}
}

// A plugin may leave a child process behind, for example an agent that caches the login. The child keeps the plugin's
// output open, but the client must not wait for it.
func TestPluginsThatLeaveAChild(t *testing.T) {
	onlyFile(t)
	s, p := newServer(t, true), newPlugin(t)
	write(t, p.folder+"/child/do", "wait\n")
	p.setCommands(`print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t1"}}`, "child")
	text, err := identity(t.Context(), t, load(t, file(t, s.cluster(), p.user(""))))
	require.NoError(t, err)
	require.Equal(t, "t1", text)

	for _, commands := range [][]string{{"child"}, {`print {"kind":"ExecCredential"`, "child"}} {
		p.setCommands(commands...)
		_, err = ask(t.Context(), load(t, file(t, s.cluster(), p.user(""))))
		require.ErrorContains(t, err, "the output is not an ExecCredential in JSON")
	}
	p.setCommands(`print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t1"}}`, "child", "exit 1")
	_, err = ask(t.Context(), load(t, file(t, s.cluster(), p.user(""))))
	require.ErrorContains(t, err, "exit status 1", "the plugin has failed although its output is valid")
}

func TestConcurrentRequestsRunPluginOnce(t *testing.T) {
	onlyFile(t)
	p := newPlugin(t)
	p.setStatus(`"token":"t1"`)
	config := load(t, file(t, "server: https://127.0.0.1:1", p.user("")))
	given := make(chan *lwhttp.Credential)
	for range 20 {
		go func() {
			credential, _ := ask(t.Context(), config)
			given <- credential
		}()
	}
	first := <-given
	for range 19 {
		require.Same(t, first, <-given)
	}
	require.Len(t, p.runs(), 1)
	p.setStatus(`"token":"t2"`)
	for range 20 { // all calls report the same rejected credential
		go func() {
			credential, _ := config.HTTP.CredentialFunc(t.Context(), first)
			given <- credential
		}()
	}
	for range 20 {
		require.Equal(t, "t2", (<-given).Token)
	}
	require.Len(t, p.runs(), 2)
}

// Load must detect these mistakes without running the plugin.
func TestMissingPlugins(t *testing.T) {
	onlyFile(t)
	p := newPlugin(t)
	const good = "interactiveMode: Never, apiVersion: client.authentication.k8s.io/v1"
	for name, c := range map[string]struct{ user, want string }{
		"unknown command":                   {"exec: {command: no-such-plugin, installHint: \"brew\\tinstall \\e[31mit\", " + good + "}", "exec.command: the credential plugin no-such-plugin: executable file not found in $PATH: brew install [31mit"},
		"relative path that does not exist": {"exec: {command: ./no-such-plugin, " + good + "}", "no such file or directory"},
		"absolute path that does not exist": {"exec: {command: /opt/no-such-plugin, installHint: install it, " + good + "}", "the credential plugin /opt/no-such-plugin: stat /opt/no-such-plugin: no such file or directory: install it"},
		"exec without a command":            {"exec: {" + good + "}", "exec.command is missing"},
		"empty apiVersion":                  {p.user(", apiVersion: ''"), "exec.apiVersion must be client.authentication.k8s.io/v1 or "},
		"old apiVersion":                    {p.user(", apiVersion: client.authentication.k8s.io/v1alpha1"), "exec.apiVersion must be client.authentication.k8s.io/v1 or"},
		"empty interactiveMode":             {p.user(", interactiveMode: ''"), "exec.interactiveMode must be Never, IfAvailable or Always"},
		"variable without a name":           {"exec: {command: x, env: [{value: pa55word}], " + good + "}", "exec.env.name is missing"},
		"string as args":                    {"exec: {command: x, args: pa55word, " + good + "}", "exec.args must be a list"},
		"string as exec":                    {"exec: pa55word", "exec must be a mapping"},
	} {
		_, err := kubeconfig.Load(&kubeconfig.Options{Path: file(t, "server: https://127.0.0.1:1", c.user)})
		var typed *kubeconfig.Error
		require.ErrorAs(t, err, &typed, name)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "pa55word", name)
	}
	_, err := kubeconfig.Load(&kubeconfig.Options{Path: file(t, "server: https://127.0.0.1:1; extensions: [{name: client.authentication.k8s.io/exec, extension: {[a]: b}}]", p.user(", provideClusterInfo: true"))})
	require.ErrorContains(t, err, `cluster "east": extensions.extension cannot be written as JSON`)

	p.setStatus(`"token":"t1"`)
	config := load(t, file(t, "server: https://127.0.0.1:1", p.user(", interactiveMode: Always")))
	_, err = ask(t.Context(), config)
	require.ErrorContains(t, err, "user input is required, but standard input is not a terminal")
	config = load(t, file(t, "server: http://127.0.0.1:1", "exec: {command: no-such-plugin, "+good+"}"))
	require.Nil(t, config.HTTP.CredentialFunc, "credentials must not be sent over plain HTTP")
	config = load(t, file(t, "server: https://127.0.0.1:1", "token: t1; exec: {command: no-such-plugin, "+good+"}"))
	require.Equal(t, "t1", config.HTTP.Token)
}

// The path of a plugin is relative to its kubeconfig. Options.Stderr must receive the stderr of the plugin.
func TestPluginPathIsRelativeToKubeconfig(t *testing.T) {
	onlyFile(t)
	p := newPlugin(t)
	p.setCommands("say open https://login.example.com", `print {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t1"}}`)
	path := file(t, "server: https://127.0.0.1:1", strings.Replace(p.user(""), os.Args[0], "bin/plugin", 1))
	require.NoError(t, os.Mkdir(filepath.Dir(path)+"/bin", 0o700))
	require.NoError(t, os.Symlink(os.Args[0], filepath.Dir(path)+"/bin/plugin"))
	var shown strings.Builder
	config, err := kubeconfig.Load(&kubeconfig.Options{Path: path, Stderr: &shown})
	require.NoError(t, err)
	given, err := ask(t.Context(), config)
	require.NoError(t, err)
	require.Equal(t, "t1", given.Token)
	require.Equal(t, "open https://login.example.com\n", shown.String())
}
