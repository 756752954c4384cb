package lw

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

type warnings struct {
	args []map[any]any
	at   []time.Time
}

func (w *warnings) Warn(_ string, args ...any) {
	line := map[any]any{}
	for i := 0; i < len(args); i += 2 {
		line[args[i]] = args[i+1]
	}
	w.args, w.at = append(w.args, line), append(w.at, time.Now())
}

// rejecting is a transport that answers each request with a status code.
type rejecting int

func (code rejecting) Open(context.Context, *Request) (*Response, error) {
	return nil, &StatusError{Code: int(code)}
}

func TestLoggerReceivesCauseOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := NewClient(rejecting(403), Pods("default"), RawCodec{}, nil)
		require.NoError(t, err)
		var logger warnings
		interruptions := 0
		for range ListAndWatch(t.Context(), client, &Options{Warn: logger.Warn}) {
			if interruptions++; len(logger.args) == 3 || interruptions == 1000 {
				break
			}
		}
		require.Len(t, logger.args, 3)
		suppressed := 0
		for i := 1; i < len(logger.at); i++ {
			require.GreaterOrEqual(t, logger.at[i].Sub(logger.at[i-1]), time.Minute)
			suppressed += logger.args[i]["suppressed"].(int)
		}
		require.NotZero(t, suppressed)
		require.Equal(t, interruptions-3, suppressed)
		require.NotContains(t, logger.args[0], "suppressed")
	})
}

func TestLoggerReceivesEachCause(t *testing.T) {
	var logger warnings
	follow(t, &Options{NoStreamingList: true, Warn: logger.Warn},
		answer{err: status(403)}, answer{err: errReset}, answer{err: status(403)}, answer{err: status(500)}, answer{err: status(401)})
	require.Len(t, logger.args, 4)
	for i, cause := range []error{status(403), errReset, status(500), status(401)} {
		require.Equal(t, cause.Error(), logger.args[i]["cause"])
	}
}

func TestLoggerIgnoresRoutineInterruptions(t *testing.T) {
	var logger warnings
	events, _ := follow(t, &Options{NoStreamingList: true, Warn: logger.Warn},
		answer{body: podList("5", "", "a")},
		answer{body: podEvent("MODIFIED", "a", "6")}, // the watch then ends cleanly
		answer{body: podEvent("MODIFIED", "a", "7"), end: errReset},
		answer{body: ""}, // the watch ends cleanly, without events
		answer{body: podEvent("MODIFIED", "a", "8")},
	)
	require.Contains(t, events, "INTERRUPTED connection reset @7")
	require.Len(t, logger.args, 1, "only the error at the end of the script must be logged")
}

func TestLoggerReceivesIdleTimeouts(t *testing.T) {
	r := newMachineHarness(t, Options{}).synced("7").opens()
	r.receives("8")
	_, attention := r.fail(r.now, errReset, 0, false)
	require.False(t, attention)
	r.opens().receives("9")
	_, attention = r.fail(r.now, ErrSilent, 0, false)
	require.True(t, attention)
}

func TestLoggerReceivesNextRequestAndRemedy(t *testing.T) {
	check := func(code int, remedy string) {
		var logger warnings
		r := reporter{warn: logger.Warn}
		r.report(&Interruption{Err: status(code), Relist: true, Delay: 1234567 * time.Microsecond}, time.Second)
		require.Equal(t, []map[any]any{{
			"cause": status(code).Error(), "next": "relist", "delay": 1235 * time.Millisecond, "remedy": remedy,
		}}, logger.args)
	}
	check(401, "check the credential: it is missing, unknown or expired")
	check(403, "grant the user the list and watch verbs on this resource")
	check(404, "check the group, the version and the plural: this server has no such resource")
	check(422, "check the selectors, or set Options.NoStreamingList if the server does not support streaming lists")
	check(502, "check whether the server behind the proxy is running, and the proxy's address for it")
	check(503, "check the server's address and the network")

	require.Equal(t, "check the server's address and the network", remedyOf(errReset))
	require.Equal(t, "check the URL: the response is not a list", remedyOf(&jsonscan.SyntaxError{Err: ErrNotList}))
	require.Empty(t, remedyOf(status(500)))
	require.Equal(t, "watch", nextOf(&Interruption{}))
	require.Equal(t, "stop", nextOf(&Interruption{Final: true}))
}

// A server can send any number of status codes, so the reporter must not remember all of them.
func TestReporterForgetsOldCauses(t *testing.T) {
	var logger warnings
	r := reporter{warn: logger.Warn}
	for code := range 2 * maxLogged {
		r.report(&Interruption{Err: status(600 + code)}, time.Second)
	}
	require.Len(t, r.logged, maxLogged)
	r.report(&Interruption{Err: status(600 + 2*maxLogged - 1)}, time.Second)
	require.Len(t, logger.args, 2*maxLogged, "a recently logged cause must not be logged again")
}

func TestClientStringHidesQuery(t *testing.T) {
	for want, resource := range map[string]Resource{
		"shop/deployments.apps": {Group: "apps", Version: "v1", Plural: "deployments", Namespace: "shop"},
		"/proxy/pods":           {Raw: "/proxy/pods?key=secret", Name: "web-0"},
	} {
		require.Equal(t, want, (&scriptedTransport{}).client(t, resource).Source().Name)
	}
}

func TestLoggerNamesSource(t *testing.T) {
	var logger warnings
	s := &scriptedTransport{answers: []answer{{err: status(500)}}}
	for range ListAndWatch(t.Context(), s.client(t, Pods("shop")), &Options{Warn: logger.Warn, StopOn: func(error) bool { return true }}) {
	}
	require.Equal(t, "shop/pods", logger.args[0]["collection"])
}
