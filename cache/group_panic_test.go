//go:build !js

package cache

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// A panic in a handler or a worker must end the program, so the test runs the group in another process.
func TestGroupDoesNotHidePanics(t *testing.T) {
	const name = "LISTWATCH_GROUP_PANIC"
	if of := os.Getenv(name); of != "" {
		panicInGroup(t, of)
	}
	for _, of := range []string{"handler", "worker"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGroupDoesNotHidePanics$")
		cmd.Env = append(os.Environ(), name+"="+of)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "panic: bug in the "+of)
	}
}

func panicInGroup(t *testing.T, of string) {
	var g Group
	pods := NewInformer(&liveObjects{first: []string{"x@1"}}, plainLists())
	g.Add("pods", pods)
	worker := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	if of == "handler" {
		pods.Handle(Handler[*lw.Object]{Added: func(*lw.Object, bool) { panic("bug in the handler") }}, nil)
	} else {
		worker = func(context.Context) error { panic("bug in the worker") }
	}
	t.Log(g.Run(t.Context(), worker))
}
