package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// brokenPipe is a pipe without a reader.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// readOnce is a pipe whose reader exits after the first write. The write itself succeeds.
type readOnce struct {
	bytes.Buffer
	closed context.CancelCauseFunc
}

func (r *readOnce) Write(p []byte) (int, error) {
	defer r.closed(syscall.EPIPE)
	return r.Buffer.Write(p)
}

// A script that waits with --until or --count must not continue just because the reader of the output has exited.
func TestClosedPipeIsNotSuccessBeforeGoal(t *testing.T) {
	server := start(t, nil)
	create(t, server, "configmaps", named("a"))
	for _, c := range []struct {
		goal    []string
		code    int
		message string
	}{
		{nil, exitDone, ""},
		{[]string{"--once"}, exitDone, ""},
		{[]string{"--until", "deleted"}, exitTimeout, "lwcat: standard output was closed before deleted was reached\nlwcat: configmap/a: the object still exists\n"},
		{[]string{"--count", "2"}, exitTimeout, "lwcat: standard output was closed before event number 2 was reached\n"},
		{[]string{"--count", "1"}, exitTimeout, "lwcat: standard output was closed before event number 1 was reached\n"},
		{[]string{"--count", "1", "--once"}, exitTimeout, "lwcat: standard output was closed before event number 1 was reached\n"},
		{[]string{"--until", "exists"}, exitDone, ""},
		{[]string{"--until", "exists", "--once"}, exitDone, ""},
	} {
		var errs lockedBuffer
		require.Equal(t, c.code, run(t.Context(), append([]string{"-s", server.URL, "cm/a", "-o", "name"}, c.goal...), brokenPipe{}, &errs, false), c.goal)
		require.Equal(t, c.message, errs.String(), c.goal)
	}
}

// A reader may exit as soon as it has read the last event, even before lwcat exits.
func TestReaderThatExitsAfterGoal(t *testing.T) {
	server := start(t, nil)
	create(t, server, "configmaps", named("a"))
	for goal, code := range map[string]int{"--count=1": exitDone, "--until=exists": exitDone, "--count=2": exitTimeout, "--until=deleted": exitTimeout} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var errs lockedBuffer
		out := &readOnce{closed: cancel}
		require.Equal(t, code, run(ctx, []string{"-s", server.URL, "cm/a", "-o", "name", goal}, out, &errs, false), "%s: %s", goal, errs.String())
		require.Equal(t, "configmap/a\n", out.String())
	}
}

// A server that closes the connection while lwcat sends a request causes the same error number as a closed pipe.
func TestBrokenConnectionIsNotAClosedPipe(t *testing.T) {
	broken := &url.Error{Op: "Get", URL: "https://127.0.0.1:1/api", Err: &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}}
	for _, limits := range []rangeOptions{{}, {once: true}, {count: 1}, {until: []string{"exists"}}} {
		var errs lockedBuffer
		code := exitCode(errors.Join(broken, broken), &config{limits: limits}, &status{out: &errs})
		require.Equal(t, exitError, code, errs.String())
		require.Contains(t, errs.String(), "write tcp: write: broken pipe")
	}
}
