package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// forbid makes a server deny all requests whose path ends with one of the suffixes, until the test calls permit.
func forbid(server *lwtest.Server, suffixes ...string) (permit func()) {
	return server.Fail(func(r lwtest.Request) bool {
		for _, suffix := range suffixes {
			if strings.HasSuffix(r.URL.Path, suffix) {
				return true
			}
		}
		return false
	}, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
}

func TestEverythingFollowsAllTypes(t *testing.T) {
	server := start(t, nil)
	create(t, server, "configmaps", named("a"))
	create(t, server, "nodes", named("n1"))
	permit := forbid(server, "/secrets", "/services")
	r := follow(t, "", "-s", server.URL, "everything", "-o", "name", "--output-watch-events")
	eventually(t, "the types that cannot be followed", func() bool {
		return strings.Contains(r.errs.String(), "secrets, services: forbidden (the server answered 403")
	})
	create(t, server, "widgets.lw.example.com", named("w"))
	server.Delete("nodes", "", "n1")
	eventually(t, "the changes", func() bool { return len(strings.Split(r.out.String(), "\n")) == 5 })
	require.ElementsMatch(t, []string{"ADDED  configmap/a", "ADDED  node/n1", "ADDED  widget.lw.example.com/w", "DELETED  node/n1"}, strings.Split(strings.ReplaceAll(strings.TrimSpace(r.out.String()), "ADDED    ", "ADDED  "), "\n"))
	permit()
	eventually(t, "access", func() bool {
		return strings.Contains(r.errs.String(), "services: live again") && strings.Contains(r.errs.String(), "secrets")
	})
	r.stop()
	require.Equal(t, 1, strings.Count(r.errs.String(), ": forbidden"), "each problem is logged once")
}

func TestEverythingOnce(t *testing.T) {
	server := start(t, nil)
	for _, namespace := range []string{"a", "b", "c"} {
		create(t, server, "configmaps", `{"metadata":{"name":"in-`+namespace+`","namespace":"`+namespace+`","labels":{"in":"`+namespace+`"}}}`)
	}
	create(t, server, "nodes", named("n1"))
	cases := []struct {
		args string
		code int
		want string
	}{
		{"", exitDone, "configmap/in-a configmap/in-b configmap/in-c node/n1"},
		{"-A", exitDone, "configmap/in-a configmap/in-b configmap/in-c node/n1"},
		{"-n a,b", exitDone, "configmap/in-a configmap/in-b"},
		{"-n b", exitDone, "configmap/in-b"},
		{"-l in=c", exitDone, "configmap/in-c"},
		{"--until metadata.name=n1", exitDone, "configmap/in-a configmap/in-b configmap/in-c node/n1"},
		{"--count 1 -n b", exitDone, "configmap/in-b"},
		{"--count 9 -n b", exitTimeout, "configmap/in-b"},
	}
	for _, c := range cases {
		t.Run(c.args, func(t *testing.T) {
			code, out, errs := lwcat(t, append([]string{"-s", server.URL, "everything", "--once", "-o", "name"}, strings.Fields(c.args)...)...)
			require.Equal(t, c.code, code, errs)
			require.ElementsMatch(t, strings.Fields(c.want), strings.Fields(out))
		})
	}
	forbid(server, "/api/v1/nodes", "/api/v1/configmaps", "/a/configmaps")
	for _, namespace := range []string{"a", "b"} {
		create(t, server, "namespaces", named(namespace))
	}
	code, out, errs := lwcat(t, "-s", server.URL, "everything", "--once", "-o", "name", "-l", "in")
	require.Equal(t, exitError, code, "the output is incomplete")
	require.Equal(t, "configmap/in-b", strings.TrimSpace(out))
	require.Contains(t, errs, "nodes: forbidden (")
	require.Contains(t, errs, "configmaps: visible only in b")
	code, _, errs = lwcat(t, "-s", "http://127.0.0.1:1", "everything")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "no server is listening")
	require.Equal(t, 1, strings.Count(errs, "no server is listening"))
}

// With --wait, an unreachable server is neither an answer nor a failure.
func TestEverythingWaitsForTheServer(t *testing.T) {
	for _, args := range []string{"", "--once"} {
		code, out, errs := timedOut(t, false, func(_, errs string) bool {
			return strings.Contains(errs, "connection refused; retrying in 1s")
		}, append([]string{"-s", "http://127.0.0.1:1", "everything", "--wait", "--timeout", "1h"}, strings.Fields(args)...)...)
		require.Equal(t, exitTimeout, code, errs)
		require.Empty(t, out)
	}
	server := start(t, nil)
	server.Close()
	r := follow(t, "", "-s", server.URL, "everything", "--wait", "-o", "name")
	eventually(t, "the message that the server is unreachable", func() bool { return strings.Contains(r.errs.String(), "connection refused") })
	require.NoError(t, server.Restart())
	create(t, server, "configmaps", named("late"))
	eventually(t, "the object of the server that was started later", func() bool { return r.out.String() == "configmap/late\n" })
	r.stop()
}

func TestEverythingPrintsOnlyLaterObjectsWithWatchOnly(t *testing.T) {
	server := start(t, nil)
	create(t, server, "configmaps", named("old"))
	r := follow(t, "", "-s", server.URL, "everything", "--watch-only", "-o", "name", "-v")
	answered := regexp.MustCompile(`< \S*/configmaps\?\S*\bwatch=\S*: response`)
	eventually(t, "the response to the watch", func() bool { return answered.MatchString(r.errs.String()) })
	create(t, server, "configmaps", named("new"))
	eventually(t, "the new object", func() bool { return strings.Contains(r.out.String(), "new") })
	require.Equal(t, "configmap/new\n", r.out.String())
	r.stop()
}

func TestEverythingSaysThatItWatches(t *testing.T) {
	server := start(t, nil)
	timedOut(t, true, func(_, errs string) bool {
		return strings.Contains(errs, " types, watching (^C stops; --once only lists)")
	}, "-s", server.URL, "everything", "--timeout", "1h")
}

func TestEverythingIsATable(t *testing.T) {
	server := start(t, nil)
	create(t, server, "configmaps", named("a"))
	code, out, errs := lwcat(t, "-s", server.URL, "get", "everything", "-l", "!kubernetes.io/bootstrapping")
	require.Equal(t, exitDone, code, errs)
	require.Regexp(t, `RESOURCE +NAMESPACE +NAME +AGE
(.*
)*configmaps +default +a +\d+s\n`, out)
}

func TestEverythingRejectsFlagsForOneResource(t *testing.T) {
	for _, args := range []string{"everything pods", "everything --from 5", "everything --resume x", "everything --types Normal", "everything --record x"} {
		code, _, errs := lwcat(t, strings.Fields("-s http://127.0.0.1:1 "+args)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, errs, "everything", args)
	}
}
