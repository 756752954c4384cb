package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// openAPI is a part of the schema that a real server publishes for Pods.
const openAPI = `{"paths":{"/api/v1/pods":{"get":{"x-kubernetes-group-version-kind":{"group":"","kind":"Pod","version":"v1"}}}},"components":{"schemas":{
	"Meta":{"properties":{"name":{"type":"string"},"labels":{"additionalProperties":{"type":"string"}}}},
	"Status":{"properties":{"phase":{"type":"string"},"conditions":{"items":{"allOf":[{"$ref":"#/components/schemas/Condition"}]}}}},
	"Condition":{"properties":{"type":{},"status":{}}},
	"Pod":{"properties":{"metadata":{"allOf":[{"$ref":"#/components/schemas/Meta"}]},"spec":{"x-kubernetes-preserve-unknown-fields":true},"status":{"$ref":"#/components/schemas/Status"}},
		"x-kubernetes-group-version-kind":[{"group":"","kind":"Pod","version":"v1"}]}}}}`

// guessable starts a server with a few objects and with a schema for Pods.
func guessable(t *testing.T) *lwtest.Server {
	server := start(t, nil)
	create(t, server, "pods", `{"metadata":{"name":"web-0","labels":{"app":"web"}},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	create(t, server, "pods", `{"metadata":{"name":"web-1","labels":{"app":"web"}},"status":{"phase":"Pending"}}`)
	create(t, server, "deployments.apps", `{"metadata":{"name":"web","generation":1},"spec":{"replicas":0},"status":{"observedGeneration":1}}`)
	create(t, server, "deployments.apps", `{"metadata":{"name":"slow"},"spec":{"replicas":3},"status":{"observedGeneration":1,"replicas":3,"updatedReplicas":3,"availableReplicas":1}}`)
	create(t, server, "nodes", named("n1"))
	create(t, server, "events", `{"metadata":{"name":"e"},"type":"Normal","reason":"Pulled","involvedObject":{"kind":"Pod","name":"web-0"}}`)
	server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/openapi/v3/api/v1" }, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		fmt.Fprint(w, openAPI)
	})
	return server
}

// guesses are commands that a user of kubectl may guess. Each command works, or fails with a message that names a
// command that works.
var guesses = []struct {
	args   string
	code   int
	stdout string // the whole output, or a part after …
	stderr string // a part of the messages, or "" if there must be none
}{
	// kubectl's commands
	{"get pods", 0, "NAME    STATUS    AGE\nweb-0   Running   0s\nweb-1   Pending   0s\n", ""},
	{"get pods --no-headers", 0, "web-0   Running   0s\nweb-1   Pending   0s\n", ""},
	{"get pods -w --count 1", 0, "EVENT      NAME    STATUS    AGE\nADDED      web-0   Running   0s\n", ""},
	{"get pod web-1 web-0", 0, "NAME    STATUS    AGE\nweb-1   Pending   0s\nweb-0   Running   0s\n", ""},
	{"get deploy,pods,nodes -o name", 0, "deployment.apps/slow\ndeployment.apps/web\npod/web-0\npod/web-1\nnode/n1\n", ""},
	{"get pods web-0 -o yaml", 0, "…---\nkind: Pod\n", ""},
	{"get pods -o yaml", 0, "…---\napiVersion: v1\nkind: List\n", ""},
	{"get pods --request-timeout=30s -o name", 0, "pod/web-0\npod/web-1\n", ""},
	{"get --raw /healthz", 2, "", "use kubectl get --raw"},
	{"pods --only-deleted", 2, "", "use --event DELETED"},
	{"pods -o go-template={{.x}}", 2, "", "for others, use kubectl"},
	{"get pods -o json", 0, "…{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"\"},\"items\":[{", ""},
	{"get pods -l app=none -o json", 0, "…\"items\":[]}\n", ""},
	{"get pod web-0 -o json", 0, "…{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-0\"", ""},
	{"get pods -o jsonpath={.items[*].metadata.name}", 0, "web-0 web-1\n", ""},
	{"get pods --sort-by=.status.phase -o name", 0, "pod/web-1\npod/web-0\n", ""},
	{"get pods --sort-by=.status.phase -o jsonpath={.items[0].metadata.name}", 0, "web-1\n", ""},
	{"get pods --count 1 -o jsonpath={.items[*].metadata.name}", 0, "web-0\n", ""},
	{"get pods --once --until exists -o jsonpath={.items[*].metadata.name}", 0, "web-0\n", ""},
	{"get everything -l app=web -o jsonpath={.items[*].metadata.name}", 0, "web-0 web-1\n", ""},
	{"get everything -l app=web --count 3 -o jsonpath={.items[*].metadata.name}", 3, "web-0 web-1\n", "event number 3 was not reached"},
	{"get pods --show-labels", 0, "…app=web", ""},
	{"get pods -L app", 0, "…APP\n", ""},
	{"get pods -o name", 0, "pod/web-0\npod/web-1\n", ""},
	{"get pod web-0 -o name", 0, "pod/web-0\n", ""},
	{"get pods web-0 web-1 -o name", 0, "…pod/web-1\n", ""},
	{"get pod/web-0 deploy/web -o name", 0, "…deployment.apps/web\n", ""},
	{"get pods -w --count 2 -o name", 0, "pod/web-0\npod/web-1\n", ""},
	{"get pods --watch=false -o name", 0, "pod/web-0\npod/web-1\n", ""},
	{"pods --watch=false -o name", 0, "pod/web-0\npod/web-1\n", ""},
	{"get nodes -o wide", 0, "…n1", ""},
	{"get pod nosuch", 1, "", `pods "nosuch" not found`},
	{"get pod nosuch --ignore-not-found", 0, "", ""},
	{"get all -o name", 0, "…deployment.apps/web\n", ""},
	{"all --once -o name", 0, "…pod/web-0\n", ""},
	{"describe pod web-0", 2, "", "describe pod web-0, or lwcat -s"},
	{"get pods --count 1 -o name", 0, "pod/web-0\n", ""},
	{"get pods --count 3 -o name", 3, "pod/web-0\npod/web-1\n", "the list is complete, but event number 3 was not reached"},
	{"get pods,nosuch", 1, "", `the server has no resource "nosuch"`},
	{"get pods,deploments", 1, "", `the server has no resource "deploments"; did you mean deployments?`},
	{"get pods --watch-only --timeout 3s", 0, "", ""},
	{"get pods,deploy web --ignore-not-found -o name", 0, "deployment.apps/web\n", ""},
	{"get events -o line", 0, "…Pulled", ""},
	{"api-resources", 0, "…deployments                              deploy       apps/v1", ""},
	{"api-resources -o name", 2, "", "or use kubectl api-resources"},
	{"api-resources apps", 2, "", "or use kubectl api-resources"},
	{"get po -l app=web --field-selector metadata.name=web-1 -o name", 0, "pod/web-1\n", ""},
	{"pod web-1 --once -o name", 0, "pod/web-1\n", ""},
	{"pod web-9", 1, "", `pods "web-9" not found`},
	{"pod/web-9", 1, "", `pods "web-9" not found`},
	{"wait pod/web-0 --for=condition=Ready", 0, "pod/web-0 condition met\n", ""},
	{"wait pod web-0 --for=condition=ready", 0, "pod/web-0 condition met\n", ""},
	{"wait pod/web-1 --for=condition=Ready --timeout=3s", 1, "", "timed out after 3s waiting for the condition on pod/web-1\nlwcat: pod/web-1: condition Ready is missing\n"},
	{"wait pod/web-0 --for=jsonpath={.status.phase}=Running", 0, "pod/web-0 condition met\n", ""},
	{"wait pod/web-0 --for=jsonpath='{.status.phase}'=Running", 0, "pod/web-0 condition met\n", ""},
	{"wait pods -l app=web --for=jsonpath={.status.phase}=Running --timeout=3s", 1, "", "timed out after 3s waiting for the condition on pods\nlwcat: pod/web-1: {.status.phase} is Pending\n"},
	{"wait pod/web-0 --for=delete --timeout=3s", 1, "", "on pod/web-0\nlwcat: pod/web-0: the object still exists\n"},
	{"wait pod web-0 nosuch --for=condition=Ready --timeout=3s", 1, "", `pods "nosuch" not found`},
	{"wait pod nosuch web-0 --for=condition=Ready --timeout=3s", 1, "", `pods "nosuch" not found`},
	{"wait pod/web-0 deploy/nosuch --for=jsonpath={.metadata.name} --timeout=3s", 1, "", `deployments.apps "nosuch" not found`},
	{"wait pod/web-0 pod/nosuch --for=create --timeout=3s", 1, "", "1 of 1 objects match"},
	{"wait pod/web-0 pod/web-1 --for=create", 0, "pod/web-0 condition met\npod/web-1 condition met\n", ""},
	{"rollout status deploy/web deploy/nosuch --timeout=3s", 1, "", `deployments.apps "nosuch" not found`},
	{"wait pods -l app=web --for=create", 0, "…pod/web-", ""},
	{"wait pod/nosuch --for=delete", 0, "", ""},
	{"wait pod/nosuch --for=condition=Ready", 1, "", `pods "nosuch" not found`},
	{"wait pods -l app=nosuch --for=condition=Ready", 1, "", "no matching resources found"},
	{"wait pod/web-0", 2, "", "wait needs --for, for example --for=condition=Ready"},
	{"rollout status deploy/web", 0, "deployment \"web\" successfully rolled out\n", ""},
	{"rollout status deployment web", 0, "deployment \"web\" successfully rolled out\n", ""},
	{"rollout status deploy/slow --timeout 3s", 1, "", "on deploy/slow\nlwcat: deployment.apps/slow: 1 of 3 updated replicas are available\n"},
	{"rollout restart deploy/web", 2, "", "rollout restart deploy/web"},
	{"rollout status pod/web-0", 1, "", "Pod has no rollout: use condition=Ready or a field"},
	{"delete pod web-0", 2, "", "delete pod web-0"},
	{"logs web-0", 2, "", "logs web-0"},
	{"logs web-0 --tail=5", 2, "", "logs web-0 --tail=5"},
	{"delete pod web-0 --force", 2, "", "delete pod web-0 --force"},
	{"replay events.jsonl", 2, "", "use lwcat --replay FILE"},
	{"record pods", 2, "", "use lwcat pods --record FILE"},
	{"exec -it web-0 -- sh", 2, "", "exec -it web-0 -- sh"},
	{"apply -f x.yaml", 2, "", "apply -f x.yaml"},
	{"events --for pod/web-0 --once -o line", 0, "…Pulled", ""},
	// flags
	{"pods --max-events 1 -o name", 0, "pod/web-0\n", ""},
	{"pods --count x", 2, "", `--count is "x": expected a number`},
	{`pods -o diff --only metadata.annotations["x"]`, 2, "", "expected values separated by commas, without quotes"},
	{"pods --once=maybe", 2, "", `--once is "maybe": expected true or false`},
	{"pods --timeout 5", 2, "", `--timeout is "5": expected a time with a unit, such as 30s or 5m`},
	{"pods --diff --once", 0, "…ADDED pods default/web-0", ""},
	{"pods --resource-version 0", 2, "", `--from is "0": expected a resourceVersion such as 12345`},
	{"pods --no-headers --once -o wide", 0, "…web-0", ""},
	{"pods --show-labels --once", 0, "…LABELS\n", ""},
	{"pods -L app --once", 0, "…APP\n", ""},
	{"pods --sort-by=.status.phase --once -o name", 0, "pod/web-1\npod/web-0\n", ""},
	{"pods --sort-by=.status.phase", 2, "", "--sort-by sorts a list, not the changes after it: add --once"},
	{"pods --sort-by=.status.phase --once --resume x", 2, "", "--sort-by sorts a list, not the changes after it: add --once, and omit --resume"},
	{"pods --color=always --once -o line", 0, "…\x1b[32mADDED\x1b[0m", ""},
	{"pods --color=sometimes --once", 2, "", "expected auto, always or never"},
	{"pods -q --once", 2, "", "use >/dev/null to hide the events"},
	{"pods -v=6 --once -o name", 0, "pod/web-0\npod/web-1\n", "> GET /api/v1/"},
	{"pods -v=0 --once -o name", 0, "pod/web-0\npod/web-1\n", ""},
	{"events --deletes-only", 2, "", "use --event DELETED"},
	{"pods --grep web", 2, "", "use --where, for example --where metadata.labels.app=web, or pipe the output to grep"},
	{"pods --filter status.phase==Pending", 2, "", "use --where"},
	{"wait pod --all --for=create", 0, "pod/web-0 condition met\npod/web-1 condition met\n", ""},
	{"wait deploy --all --for=condition=Ready --timeout 3s", 1, "", "deployment.apps/slow: condition Ready is missing"},
	{"pods --type Normal", 2, "", "use --event ADDED, MODIFIED or DELETED for kinds of changes, or --types=Warning for Events"},
	{"pods -o jsonpath={.status.phas} --once", 0, "", "pods have no field status.phas: did you mean phase?"},
	{"pods -o jsonpath={.status.conditions[*].nosuch} --once", 0, "", "pods have no field status.conditions[*].nosuch"},
	// conditions
	{"pods --until count>=2", 0, "pod/web-0 condition met\npod/web-1 condition met\n", ""},
	{"pods --until count>=3 --timeout 3s", 3, "", "timed out after 3s waiting for count>=3\nlwcat: 2 of 2 objects match\n"},
	{"pods -l app=none --until condition=Ready --timeout 3s", 3, "", "waiting for condition=Ready\nlwcat: no object exists\n"},
	{"pods --until foo=3", 2, "", "foo is not a field path: write condition=foo"},
	{"pods --until .foo=3", 2, "", "pods have no field foo"},
	{"pods --until status.phas=Running", 2, "", "pods have no field status.phas: did you mean phase?"},
	{"pods --until spec.anything --timeout 3s", 3, "", "timed out"},
	{"pods --until metadata.labels.app=web -o name", 0, "pod/web-0\n", ""},
	{"pods --until ready", 2, "", "write condition=ready"},
	{"pod/web-0 --until Ready", 2, "", "write condition=Ready"},
	{"pods --where status.phase=Running --once -o name", 0, "pod/web-0\n", ""},
	{"pods --where deleted --once", 2, "", "depends on several objects: use it with --until"},
	{"pods --where status.nosuch=1 --once", 2, "", "pods have no field status.nosuch"},
	{"pods --event deleted --once", 0, "", ""},
	{"pods --event changed --once", 2, "", `--event is "changed": expected ADDED, MODIFIED or DELETED`},
	{"nodes --until rollout", 1, "", "n1: Node has no rollout: use condition=Ready or a field"},
	{"pods -l bad( --once", 1, "", `unable to parse requirement: "bad("`},
}

// ageOfObject matches an age in a table. It depends on how fast the test runs.
var ageOfObject = regexp.MustCompile(`(\s)(?:\d+[hms])+\b`)

func TestGuessedCommands(t *testing.T) {
	require.GreaterOrEqual(t, len(guesses), 60)
	server := guessable(t)
	for _, guess := range guesses {
		t.Run(guess.args, func(t *testing.T) {
			t.Parallel() // some commands end only after their --timeout
			var code int
			var stdout, stderr string
			// On a busy machine, a command may time out before it has listed the objects. It is then repeated with a longer timeout.
			for _, timeout := range []string{"3s", "1m0s"} {
				args := strings.Fields(strings.ReplaceAll(guess.args, "3s", timeout))
				code, stdout, stderr = lwcat(t, append([]string{"-s", server.URL}, args...)...)
				stderr = strings.ReplaceAll(stderr, "after "+timeout, "after 3s")
				if code == guess.code && strings.Contains(stderr, guess.stderr) || !strings.Contains(guess.args, "3s") {
					break
				}
			}
			require.Equal(t, guess.code, code, stderr)
			stdout = ageOfObject.ReplaceAllString(stdout, "${1}0s")
			if part, found := strings.CutPrefix(guess.stdout, "…"); found {
				require.Contains(t, stdout, part)
			} else {
				require.Equal(t, guess.stdout, stdout)
			}
			require.Contains(t, stderr, guess.stderr)
			if guess.stderr == "" {
				require.Empty(t, stderr)
			}
			if guess.code == exitError {
				require.Equal(t, 1, strings.Count(stderr, guess.stderr), "the message appears once")
			}
		})
	}
}

// TestUntilPrintsOnlyTheResultInPipes checks that a job that waits for a Secret does not write the Secret to its log.
func TestUntilPrintsOnlyTheResultInPipes(t *testing.T) {
	server := start(t, nil)
	create(t, server, "secrets", `{"metadata":{"name":"db"},"data":{"password":"czNjcmV0"}}`)
	code, out, errs := lwcat(t, "-s", server.URL, "secrets", "--until", "exists")
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, "secret/db condition met\n", out)
	var terminal lockedBuffer
	require.Equal(t, exitDone, run(t.Context(), []string{"-s", server.URL, "secrets", "--until", "exists"}, &terminal, &lockedBuffer{}, true))
	require.Contains(t, terminal.String(), "ADDED")
	code, out, _ = lwcat(t, "-s", server.URL, "secrets", "--until", "exists", "-o", "jsonl")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, "czNjcmV0")
}

func TestEmptyCollectionsAreNamedOnTerminals(t *testing.T) {
	server := start(t, nil)
	create(t, server, "pods", named("web-0"))
	for args, want := range map[string]string{
		"deploy --timeout 1h":         "lwcat: no deployments.apps in default, watching (^C stops; --once only lists)\n",
		"deploy -A --timeout 1h":      "lwcat: no deployments.apps, watching (^C stops; --once only lists)\n",
		"deploy --once -n shop":       "lwcat: no deployments.apps in shop\n",
		"nodes --once":                "lwcat: no nodes\n",
		"po --timeout 1h":             "lwcat: pods in default: 1, watching (^C stops; --once only lists)\n",
		"po -l a=b --once":            "lwcat: no pods in default with a=b\n",
		"get po":                      "",
		"deploy --until deleted":      "",
		"deploy/web --wait --once":    "",
		"deploy/web --timeout 1h":     "lwcat: deployments.apps \"web\" not found\n",
		"deploy/web --until deleted ": "",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			var errs string
			if arguments := append([]string{"-s", server.URL}, strings.Fields(args)...); strings.Contains(args, "--timeout") {
				_, _, errs = timedOut(t, true, func(_, errs string) bool { return errs != "" }, arguments...)
			} else {
				var printed lockedBuffer
				run(t.Context(), arguments, &lockedBuffer{}, &printed, true)
				errs = printed.String()
			}
			require.Equal(t, want, errs)
		})
	}
	_, _, errs := lwcat(t, "-s", server.URL, "deploy", "--once")
	require.Empty(t, errs, "a script can count the lines of an empty output")
}

// TestWaitFailsWithoutServer checks that a run with --wait fails if it ends before a server has answered.
func TestWaitFailsWithoutServer(t *testing.T) {
	gone := start(t, nil)
	gone.Close()
	code, _, errs := lwcat(t, "-s", gone.URL, "pods", "--wait", "--timeout", "50ms")
	require.Equal(t, exitTimeout, code)
	require.Contains(t, errs, "timed out after 50ms waiting for the server and the resources")
	server := start(t, nil)
	create(t, server, "pods", named("a"))
	code, _, errs = timedOut(t, false, func(out, _ string) bool { return out != "" }, "-s", server.URL, "pods", "--wait", "--timeout", "1h")
	require.Equal(t, exitDone, code, errs)
}

// TestWaitFailsWithoutObject checks that a run with --wait fails if it ends before each named object has existed.
func TestWaitFailsWithoutObject(t *testing.T) {
	server := guessable(t)
	for args, want := range map[string]int{
		"pod/web-0":                      exitDone,
		"pod/nosuch":                     exitTimeout,
		"pod/web-0 pod/nosuch":           exitTimeout,
		"pod/web-0 --from 1":             exitDone,
		"/api/v1/namespaces/x/pods/none": exitTimeout,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			ready := func(out, errs string) bool {
				return watchAnswered.MatchString(errs) && (out != "" || want == exitTimeout)
			}
			code, _, errs := timedOut(t, false, ready, append([]string{"-s", server.URL, "--wait", "--timeout", "1h", "-v"}, strings.Fields(args)...)...)
			require.Equal(t, want, code, errs)
			require.Equal(t, want == exitTimeout, strings.Contains(errs, "timed out after 1h0m0s waiting for the server and the resources"), errs)
		})
	}
}

// TestTimeoutBeforeAnswerFails checks that a run does not succeed if its --timeout ends it before the server has
// answered.
func TestTimeoutBeforeAnswerFails(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	code, _, errs := lwcat(t, "-s", "http://"+silent.Addr().String(), "/api/v1/pods", "--timeout", "50ms")
	require.Equal(t, exitTimeout, code)
	require.Contains(t, errs, "timed out after 50ms waiting for the server and the resources")
}

// TestGetNeedsNoWatch checks that a user who may list but not watch can use "lwcat get".
func TestGetNeedsNoWatch(t *testing.T) {
	server := guessable(t)
	server.Fail(func(r lwtest.Request) bool { return r.URL.Query().Has("watch") }, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "watches are forbidden", http.StatusForbidden)
	})
	code, out, errs := lwcat(t, "-s", server.URL, "get", "pods", "-o", "name")
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, "pod/web-0\npod/web-1\n", out)
}

// TestWhereIsAView checks that lwcat prints an object as added when the object begins to match --where, and as deleted
// when the object no longer matches.
func TestWhereIsAView(t *testing.T) {
	server := start(t, nil)
	phase := func(name, phase string) {
		create(t, server, "pods", `{"metadata":{"name":"`+name+`"},"status":{"phase":"`+phase+`"}}`)
	}
	phase("a", "Running")
	phase("b", "Pending")
	ctx, cancel := context.WithCancelCause(t.Context())
	var out, errs lockedBuffer
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"-s", server.URL, "pods", "--where", "status.phase=Running", "--event", "added,deleted", "-o", "name", "--output-watch-events"}, &out, &errs, false)
	}()
	eventually(t, "the matching object", func() bool { return strings.Contains(out.String(), "pod/a") && len(server.Open(lwtest.Watches)) > 0 })
	phase("b", "Running")
	eventually(t, "an object that begins to match", func() bool { return strings.Contains(out.String(), "pod/b") })
	create(t, server, "pods", `{"metadata":{"name":"a","labels":{"x":"y"}},"status":{"phase":"Running"}}`) // hidden by --event
	phase("a", "Failed")
	eventually(t, "an object that ceases to match", func() bool { return strings.Contains(out.String(), "DELETED") })
	require.Equal(t, "ADDED    pod/a\nADDED    pod/b\nDELETED  pod/a\n", out.String())
	cancel(errInterrupted)
	require.Equal(t, exitInterrupted, <-done)
}
