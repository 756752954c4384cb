package main

import (
	"bytes"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/stretchr/testify/require"
)

// verboseArguments enable all messages of lwcat.
const verboseArguments = "-v --once --timeout 20s"

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	v := newSecretsFixture(t)
	for user := range v.users {
		for _, path := range []string{"/ok", "/echo401", "/elsewhere"} {
			code, out := v.run(nil, append(strings.Fields(verboseArguments), "--kubeconfig", v.kubeconfigFor(user, path, nil), "cm")...)
			v.secrets.Absent(t, user+path, out)
			works := path == "/ok" && !strings.HasPrefix(user, "pluginThat") && !strings.HasPrefix(user, "pluginOf") && user != "basic" && user != "halfAKey" && user != "notBase64"
			require.Equal(t, works, strings.Contains(out, "settings"), "%s%s: %d", user, path, code)
		}
	}
	for _, path := range []string{"/echo500", "/nowhere", "/noURL", "/loop", "/cut"} {
		for _, name := range []string{"cm", "/api/v1/configmaps", "/api/v1/configmaps --transport ws", "/api/v1/configmaps --transport auto"} {
			args := append(strings.Fields("-v --once --timeout 500ms "+name), "-s", v.url+path, "--certificate-authority", v.ca, "--token", v.token)
			code, out := v.run(nil, args...)
			require.Empty(t, out, "%s: %d", path, code)
		}
	}
	recordings := t.TempDir() // separate folder, because a recording may contain secrets that the server sends
	for _, path := range []string{"/echoStatus", "/echoEvent"} {
		for _, more := range []string{"-o jsonl", "-o wide", "--transport ws", "--transport auto", "--record " + filepath.Join(recordings, path)} {
			args := append(strings.Fields("-v --timeout 300ms /api/v1/configmaps "+more), "-s", v.url+path, "--certificate-authority", v.ca, "--token", v.token)
			_, _ = v.run(nil, args...)
		}
	}
	v.secrets.AbsentFrom(t, v.work)
}

// TestConnectionErrorsShowNoSecrets covers unverified, unreachable and silent servers, proxies with passwords, and
// invalid URLs and files.
func TestConnectionErrorsShowNoSecrets(t *testing.T) {
	t.Parallel()
	v := newSecretsFixture(t)
	password := v.secrets.New("the proxy's password")
	proxy := (&url.URL{Scheme: "http", User: url.UserPassword("jane", password), Host: v.proxy}).String()
	nobody := (&url.URL{Scheme: "http", User: url.UserPassword("jane", password), Host: "127.0.0.1:1"}).String()
	flags := []string{"-v", "--once", "--token", v.token, "/api/v1/configmaps"}
	for name, c := range map[string]struct {
		env   []string
		args  []string
		works bool
	}{
		"unknown certificate authority":          {args: []string{"-s", v.url}},
		"certificate for a different name":       {args: []string{"-s", "https://localhost" + v.port, "--certificate-authority", v.ca}},
		"refused connection":                     {args: []string{"-s", "https://127.0.0.1:1"}},
		"HTTP instead of HTTPS":                  {args: []string{"-s", "http" + v.url[len("https"):]}},
		"server that never responds":             {args: []string{"-s", v.url + "/silent", "--certificate-authority", v.ca}},
		"password in the server's URL":           {args: []string{"-s", "https://jane:" + url.PathEscape(password) + "@127.0.0.1:1"}},
		"token in the server's URL":              {args: []string{"-s", "https://127.0.0.1:1/?token=" + url.QueryEscape(password)}},
		"invalid server URL":                     {args: []string{"-s", "https://jane:" + password + "@[::1"}},
		"proxy from the kubeconfig":              {args: []string{"--kubeconfig", v.kubeconfigFor("token", "", map[string]any{"proxy-url": proxy})}, works: true},
		"unreachable proxy from the kubeconfig":  {args: []string{"--kubeconfig", v.kubeconfigFor("plugin", "", map[string]any{"proxy-url": nobody})}},
		"invalid proxy URL in the kubeconfig":    {args: []string{"--kubeconfig", v.kubeconfigFor("plugin", "", map[string]any{"proxy-url": "ftp" + proxy[len("http"):]})}},
		"proxy from the environment":             {env: []string{"HTTPS_PROXY=" + proxy}, args: []string{"-s", "https://api.test", "--certificate-authority", v.ca}, works: true},
		"unreachable proxy from the environment": {env: []string{"HTTPS_PROXY=" + nobody}, args: []string{"-s", "https://api.test", "--certificate-authority", v.ca}},
		"invalid proxy URL in the environment":   {env: []string{"HTTPS_PROXY=http://jane:" + password + "@[::1"}, args: []string{"-s", "https://api.test", "--certificate-authority", v.ca}},
		"kubeconfig with invalid YAML":           {args: []string{"--kubeconfig", v.input("broken1", "users:\n- token: "+password+"\n\t- x: [")}},
		"kubeconfig with invalid fields":         {args: []string{"--kubeconfig", v.input("broken2", "users: "+password+"\ncurrent-context: x\ncontexts: ["+password+"]")}},
		"token with a line break":                {args: []string{"-s", v.url, "--certificate-authority", v.ca, "--token", v.token + "\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			v.t = t
			timeout := "300ms"
			if c.works {
				timeout = "20s"
			}
			code, out := v.run(c.env, append(append(flags[:len(flags):len(flags)], "--timeout", timeout), c.args...)...)
			v.secrets.Absent(t, name, out)
			require.Equal(t, c.works, strings.Contains(out, "settings"), code)
		})
	}
}

// TestAdviceShowsNoToken checks the messages that quote the command line.
func TestAdviceShowsNoToken(t *testing.T) {
	for args, want := range map[string]string{
		"--token s3cr3t logs web-0":                 "use kubectl --token … logs web-0\n",
		"delete pod web-0 --force --token=s3cr3t":   "use kubectl delete pod web-0 --force --token …\n",
		"describe pod web-0 --token s3cr3t -n shop": "use kubectl describe pod web-0 --token … -n shop, or lwcat get pod web-0 --token … -n shop -o yaml\n",
	} {
		code, _, errs := lwcat(t, strings.Fields(args)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, want)
	}
	for _, args := range [][]string{{"logs", "web-0", "--token", "Bearer s3cr3t"}, {"logs", "web-0", "--token=Bearer s3cr3t"}} {
		_, _, errs := lwcat(t, args...)
		require.Contains(t, errs, "use kubectl logs web-0 --token …\n")
	}
}

// TestSecretsAreNotWritten checks recordings, resume files and all other files that lwcat writes. Other users must not
// be able to read these files. The test also checks all output formats and a replay.
func TestSecretsAreNotWritten(t *testing.T) {
	t.Parallel()
	v := newSecretsFixture(t)
	config := v.kubeconfigFor("plugin", "/ok", nil)
	for _, name := range output.Names() {
		name, _, takes := strings.Cut(name, "=")
		if takes {
			name += "=" + map[string]string{"custom-columns": "NAME:.metadata.name", "jsonpath": "{.metadata.name}"}[name]
		}
		args := append(strings.Fields(verboseArguments+" -A cm -o "+name), "--kubeconfig", config)
		code, out := v.run(nil, args...)
		require.Zero(t, code, name)
		v.secrets.Absent(t, name, out)
	}
	for user, files := range map[string]string{"plugin": "--record rec1", "token": "--resume res1", "certificate": "--record rec2", "pluginsCertificate": "--resume res2"} {
		code, _ := v.run(nil, append(strings.Fields(verboseArguments+" -A cm "+files), "--kubeconfig", v.kubeconfigFor(user, "/ok", nil))...)
		require.Zero(t, code, user)
	}
	code, out := v.run(nil, strings.Fields("-v --replay rec1")...)
	require.Zero(t, code)
	v.secrets.Absent(t, "a replay", out)
	require.Equal(t, 4, v.secrets.AbsentFrom(t, v.work))
}

// TestMessagesShowNoObjectSecrets checks that messages never contain secrets from objects.
func TestMessagesShowNoObjectSecrets(t *testing.T) {
	t.Parallel()
	v := newSecretsFixture(t)
	for _, path := range []string{"/garbage", "/wrong"} {
		for _, format := range []string{"jsonl", "wide"} {
			code, _ := v.run(nil, "-s", v.url+path, "--certificate-authority", v.ca, "--token", v.token, "-v", "--once", "--timeout", "300ms", "-o", format, "/api/v1/secrets")
			require.NotEqual(t, exitUsage, code)
		}
	}
	for _, format := range []string{
		"jsonpath={.data.password.x}", "jsonpath={.data.password[0]}", "jsonpath={.data[?(@.a>1)]}", "jsonpath={range .data.password}{.x}{end}", "custom-columns=A:.data.password.x",
	} {
		v.run(nil, "-s", v.url+"/secrets", "--certificate-authority", v.ca, "--token", v.token, "-v", "--once", "--timeout", "2s", "-o", format, "/api/v1/secrets")
	}
	require.Zero(t, v.secrets.AbsentFrom(t, v.work))
}

// TestCompletionShowsNoSecrets checks that completions, and the files that completion writes, contain no secrets.
func TestCompletionShowsNoSecrets(t *testing.T) {
	t.Parallel()
	v := newSecretsFixture(t)
	for user, lines := range map[string][]string{"token": {"", "cm/", "--context "}, "plugin": {"co", "-n ", "--token "}, "certificate": {"cm/"}, "basic": {"co"}} {
		for _, line := range lines {
			for _, path := range []string{"/ok", "/echo401"} {
				words := append([]string{"__complete", "--kubeconfig", v.kubeconfigFor(user, path, nil)}, strings.Split(line, " ")...)
				code, out := v.run(nil, words...)
				require.Zero(t, code)
				v.secrets.Absent(t, user+" "+line, out)
			}
		}
	}
	require.Zero(t, v.secrets.AbsentFrom(t, v.work))
}

// TestSecretsAreNotInCrash checks that Go's dump of all goroutines contains no secrets.
func TestSecretsAreNotInCrash(t *testing.T) {
	v := newSecretsFixture(t)
	cmd := v.command([]string{"GOTRACEBACK=system"}, "-v", "-s", v.url+"/ok", "--certificate-authority", v.ca, "--token", v.token, "cm")
	var stderr bytes.Buffer
	stdout := new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	require.NoError(t, cmd.Start())
	eventually(t, "an event", func() bool { return strings.Contains(stdout.String(), "settings") })
	require.NoError(t, cmd.Process.Signal(syscall.SIGQUIT))
	require.Error(t, cmd.Wait())
	require.Contains(t, stderr.String(), "goroutine 1 ")
	require.Contains(t, stderr.String(), "net/http.(*persistConn)") // the goroutine that holds the request
	v.secrets.Absent(t, "the goroutine dump", stderr.String())
	require.Zero(t, v.secrets.AbsentFrom(t, v.work))
}
