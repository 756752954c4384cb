package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

func start(t *testing.T, opts *lwtest.Options) *lwtest.Server {
	server, err := lwtest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

func create(t *testing.T, server *lwtest.Server, resource, object string) {
	_, err := server.Put(resource, object)
	require.NoError(t, err)
}

func named(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

// lockedBuffer is a buffer that a test can read while lwcat writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *lockedBuffer) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *lockedBuffer) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// lwcat runs the program until it exits, and returns its exit code and output.
func lwcat(t *testing.T, args ...string) (code int, stdout, stderr string) {
	var out, errors lockedBuffer
	code = run(t.Context(), args, &out, &errors, false)
	return code, out.String(), errors.String()
}

// timedOut runs the program. As soon as ready returns true for its output, timedOut ends it as if its --timeout had passed.
// So args can contain a long --timeout. A short one could end the run before a busy machine has done what the test checks.
func timedOut(t *testing.T, terminal bool, ready func(stdout, stderr string) bool, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var out, errors lockedBuffer
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, &out, &errors, terminal) }()
	eventually(t, "the output before the timeout", func() bool { return ready(out.String(), errors.String()) })
	cancel(errTimeout)
	return <-done, out.String(), errors.String()
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !condition(); <-tick.C {
		require.True(t, time.Now().Before(end), "timed out after a minute waiting for %s", what)
	}
}

func TestOnce(t *testing.T) {
	server := start(t, nil)
	// Objects created over HTTP have managedFields.
	response, err := http.Post(server.URL+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(`{"metadata":{"name":"a"},"data":{"k":"v"}}`))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	create(t, server, "configmaps", `{"metadata":{"name":"b","namespace":"other"}}`)
	create(t, server, "nodes", named("n1"))
	create(t, server, "deployments.apps", named("web"))
	create(t, server, "widgets.lw.example.com", named("w"))
	cases := []struct {
		args string
		want string // "type kind key" for each line
	}{
		{"cm", "ADDED ConfigMap default/a"},
		{"configmap", "ADDED ConfigMap default/a"},
		{"ConfigMaps", "ADDED ConfigMap default/a"},
		{"cm -n other", "ADDED ConfigMap other/b"},
		{"-A cm --field-selector metadata.name=b", "ADDED ConfigMap other/b"},
		{"cm/a -A", "ADDED ConfigMap default/a"},
		{"no", "ADDED Node /n1"},
		{"deploy.apps", "ADDED Deployment default/web"},
		{"deployments.v1.apps", "ADDED Deployment default/web"},
		{"widgets.lw.example.com", "ADDED Widget default/w"},
		{"/api/v1/nodes", "ADDED Node /n1"},
		{"-l app=none cm", ""},
	}
	for _, c := range cases {
		t.Run(c.args, func(t *testing.T) {
			code, out, errs := lwcat(t, append([]string{"-s", server.URL, "--once"}, strings.Fields(c.args)...)...)
			require.Equal(t, exitDone, code, errs)
			require.Empty(t, errs)
			require.Equal(t, c.want, strings.Join(describe(t, out), ";"))
			require.NotContains(t, out, "managedFields")
		})
	}
	code, out, _ := lwcat(t, "--server", server.URL, "cm", "--once", "no", "-A", "--show-managed-fields")
	require.Equal(t, exitDone, code)
	require.ElementsMatch(t, []string{"ADDED ConfigMap default/a", "ADDED ConfigMap other/b", "ADDED Node /n1"}, describe(t, out))
	require.Contains(t, out, "managedFields")
}

// TestSortsAcrossNamespaces checks that --sort-by sorts all objects of a resource, but keeps the order of the resources.
func TestSortsAcrossNamespaces(t *testing.T) {
	server := start(t, nil)
	for _, resource := range []string{"configmaps", "services"} {
		for name, namespace := range map[string]string{"a": "y", "b": "x", "c": "y"} {
			create(t, server, resource, `{"metadata":{"name":"`+name+`","namespace":"`+namespace+`"}}`)
		}
	}
	code, out, errs := lwcat(t, "-s", server.URL, "svc,cm", "-n", "x,y", "--once", "--sort-by", "metadata.name", "-o", "name")
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, "service/a\nservice/b\nservice/c\nconfigmap/a\nconfigmap/b\nconfigmap/c\n", out)
}

// Arguments such as "cm/c svc/a cm/b" name another resource between two objects of the same resource.
func TestSortsObjectsOfMixedArguments(t *testing.T) {
	path, err := jsonpath.ParsePath("metadata.name")
	require.NoError(t, err)
	var events []output.Event
	for i, name := range []string{"configmaps/c", "services/a", "configmaps/b"} {
		resource, name, _ := strings.Cut(name, "/")
		object, err := lw.ParseObject([]byte(named(name)))
		require.NoError(t, err)
		events = append(events, output.Event{Resource: resource, Order: i, Object: object})
	}
	(&outputOptions{sortPath: path}).sort(events)
	var names string
	for _, e := range events {
		names += e.Resource + "/" + e.Object.GetName() + " "
	}
	require.Equal(t, "configmaps/b configmaps/c services/a ", names)
}

type line struct {
	Type   string `json:"type"`
	Object struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Namespace       string `json:"namespace"`
			Name            string `json:"name"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	} `json:"object"`
}

func (l line) key() string { return l.Object.Metadata.Namespace + "/" + l.Object.Metadata.Name }

func lines(t *testing.T, out string) (lines []line) {
	for text := range strings.Lines(out) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l), text)
		lines = append(lines, l)
	}
	return lines
}

func describe(t *testing.T, out string) (described []string) {
	for _, l := range lines(t, out) {
		described = append(described, l.Type+" "+l.Object.Kind+" "+l.key())
	}
	return described
}

func TestWrongUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-s http://127.0.0.1:1":                  "no resource given: specify one, for example pods",
		"-s http://127.0.0.1:1 -o x po":          `unknown output format "x"; the formats are jsonl, json, line, table, wide, diff, name, yaml, custom-columns=HEADER:PATH,..., jsonpath=TEMPLATE; for others, use kubectl`,
		"-s http://127.0.0.1:1 --transport x po": `unknown transport "x": expected http, ws or auto`,
		"-s http://127.0.0.1:1 --wat po":         "unknown flag: --wat: did you mean --output-watch-events or --watch or --watch-only?",
		"-s http://127.0.0.1:1 --namespaces a":   "unknown flag: --namespaces: did you mean --all-namespaces or --namespace?",
		"-s http://127.0.0.1:1 --xyzzy po":       "unknown flag: --xyzzy",
		"help nonsense":                          `unknown help topic "nonsense": expected all, until or a command`,
		"po -s":                                  "flag needs an argument: 's' in -s",
	} {
		code, out, errs := lwcat(t, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Equal(t, "lwcat: "+want+"\nRun 'lwcat --help' for usage.\n", errs)
		require.Empty(t, out)
	}
	code, out, _ := lwcat(t, "--help")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, "Exit codes")
}

func TestStartupErrorsExit(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	server := start(t, &lwtest.Options{Tokens: map[string]bool{"yes": true, "no": false}})
	gone := start(t, nil)
	gone.Close()
	for args, want := range map[string]string{
		"-s " + server.URL + " --token wrong po":         "the server answered 401 Unauthorized",
		"-s " + server.URL + " --token no /api/v1/pods":  "the server answered 403 Forbidden: pods is forbidden",
		"-s " + server.URL + " --token yes /apis/x/v1/y": "the server answered 404: 404 page not found",
		"-s " + server.URL + " --token yes nosuch":       `the server has no resource "nosuch"`,
		"-s " + server.URL + " --token yes -l bad( po":   "the server answered 400 BadRequest",
		"-s " + gone.URL + " po":                         "connection refused",
		"-s " + gone.URL + " /api/v1/pods":               "connection refused",
		"-s 127.0.0.1:1 po":                              "127.0.0.1:1",
		"--kubeconfig /nil po":                           "/nil",
	} {
		code, out, errs := lwcat(t, strings.Fields(args)...)
		require.Equal(t, exitError, code, args)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
}

// Values of a run that ^C ends.
const (
	errInterrupted  = signalError(syscall.SIGINT)
	exitInterrupted = 130
)

func TestWrongConnectionFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	noPEM, ca := file(t, "none.crt", "x"), file(t, "ca.crt", string(certs.NewAuthority(t).PEM))
	for args, want := range map[string]string{
		"po":                          ": pass --context or --server, or a kubeconfig with --kubeconfig or $KUBECONFIG",
		"--context nil po":            `there is no context "nil"`,
		"-s ftp://x po":               "the server's URL must look like",
		"-s http://x --as-group a po": "impersonating a group requires a user",
		"-s https://x --certificate-authority /nil po":                                  "certificate-authority: open /nil: no such file",
		"-s https://x --certificate-authority " + noPEM + " po":                         "certificate-authority: " + noPEM + " contains no PEM certificate",
		"-s https://x --certificate-authority " + ca + " --insecure-skip-tls-verify po": "insecure-skip-tls-verify cannot be combined with certificate-authority",
	} {
		code, out, errs := lwcat(t, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, errs, want)
		require.Contains(t, errs, "Run 'lwcat --help' for usage.")
		require.Empty(t, out)
	}
}

// TestPrintedEventsReproduceServerState checks that the printed events add up to the server's state, even after
// dropped connections and after a restart that compacts the history.
func TestPrintedEventsReproduceServerState(t *testing.T) {
	t.Parallel()
	for name, upgrade := range map[string]string{"http": "", "ws": "websocket"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPrintedEvents(t, name, upgrade)
		})
	}
}

func testPrintedEvents(t *testing.T, transport, upgrade string) {
	server := start(t, nil)
	create(t, server, "configmaps", named("stays"))
	create(t, server, "configmaps", named("goes"))
	ctx, cancel := context.WithCancelCause(t.Context())
	var out, errs lockedBuffer
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"-s", server.URL, "cm", "-A", "--transport", transport}, &out, &errs, false)
	}()

	count := 0
	expect := func(want ...string) {
		t.Helper()
		count += len(want)
		eventually(t, strings.Join(want, ", "), func() bool { return strings.Count(out.String(), "\n") >= count })
		require.Equal(t, want, describe(t, out.String())[count-len(want):])
	}
	eventually(t, "the listed objects", func() bool { return strings.Count(out.String(), "\n") == 2 })
	count = 2
	eventually(t, "a watch", func() bool { return len(server.Requests(lwtest.Watches)) > 0 })
	require.Equal(t, upgrade, server.Requests(lwtest.Watches)[0].Header.Get("Upgrade"))

	server.DropConnections()
	create(t, server, "configmaps", named("while-reconnecting"))
	expect("ADDED ConfigMap default/while-reconnecting")
	require.Contains(t, errs.String(), "resuming from resourceVersion")
	require.Contains(t, errs.String(), "watching from resourceVersion")

	server.Close()
	require.NoError(t, server.Delete("configmaps", "default", "goes"))
	create(t, server, "configmaps", named("new"))
	require.NoError(t, server.Restart())
	expect("ADDED ConfigMap default/new", "DELETED ConfigMap default/goes")
	require.Contains(t, errs.String(), "410 Expired")
	eventually(t, "the relist message", func() bool { return strings.Contains(errs.String(), ": 2 changes\n") })

	_, state := server.State("configmaps")
	fold := map[string]string{}
	for _, l := range lines(t, out.String()) {
		_, there := fold[l.key()]
		require.Equal(t, l.Type != "ADDED", there, "unexpected %s event for %s", l.Type, l.key())
		if fold[l.key()] = l.Object.Metadata.ResourceVersion; l.Type == "DELETED" {
			delete(fold, l.key())
		}
	}
	require.Len(t, fold, len(state))
	for key, object := range state {
		require.Equal(t, object.GetResourceVersion(), fold[key])
	}
	cancel(errInterrupted)
	require.Equal(t, exitInterrupted, <-done)
}

// TestLaterRejectionsAreRetried checks that a rejection ends lwcat only at startup.
func TestLaterRejectionsAreRetried(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	create(t, server, "nodes", named("n1"))
	ctx, cancel := context.WithCancelCause(t.Context())
	var out, errs lockedBuffer
	done := make(chan int)
	go func() { done <- run(ctx, []string{"-s", server.URL, "no"}, &out, &errs, false) }()
	eventually(t, "the first list", func() bool { return strings.Contains(out.String(), "n1") })
	server.Fail(nil, 1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
	server.DropConnections()
	eventually(t, "the rejection message", func() bool { return strings.Contains(errs.String(), "403 Forbidden") })
	create(t, server, "nodes", named("n2"))
	eventually(t, "the stream to continue", func() bool { return strings.Contains(out.String(), "n2") })
	cancel(errInterrupted)
	require.Equal(t, exitInterrupted, <-done)
}

func TestLineOutput(t *testing.T) {
	server := start(t, nil)
	create(t, server, "pods", `{"metadata":{"name":"a"},"status":{"phase":"Running"}}`)
	create(t, server, "pods", `{"metadata":{"name":"b"},"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`)
	create(t, server, "deployments.apps", `{"metadata":{"name":"web"},"spec":{"replicas":3},"status":{"readyReplicas":2}}`)
	create(t, server, "nodes", `{"metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
	t.Setenv("NO_COLOR", "1")
	var out, errs lockedBuffer
	require.Equal(t, exitDone, run(t.Context(), []string{"-s", server.URL, "--once", "po", "deploy", "no"}, &out, &errs, true))
	for _, want := range []string{"   ADDED      Pod ", "default/a ", " Running\n", " CrashLoopBackOff\n", " 2/3 ready\n", " NotReady\n"} {
		require.Contains(t, out.String(), want)
	}
}
