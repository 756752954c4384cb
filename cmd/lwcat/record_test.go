package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplaySelectsWithWhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	var lines string
	for name, phase := range map[string]string{"web-0": "Running", "web-1": "Pending"} {
		lines += `{"type":"ADDED","time":"2026-11-28T10:15:30Z","resource":"pods","key":"default/` + name + `","resourceVersion":"7","object":{"apiVersion":"v1","kind":"Pod",` +
			`"metadata":{"namespace":"default","name":"` + name + `","resourceVersion":"7"},"status":{"phase":"` + phase + `"}}}` + "\n"
	}
	require.NoError(t, os.WriteFile(file, []byte(lines), 0o600))
	code, out, errs := lwcat(t, "--replay", file, "--where", "status.phase=Running", "-o", "name")
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, "pod/web-0\n", out)
	code, _, errs = lwcat(t, "--replay", file, "--where", "nonsense(")
	require.Equal(t, exitUsage, code, errs)
}

// TestReplayPrintsSameEvents checks that a replay resumes and relists like the recorded run, with each transport.
func TestReplayPrintsSameEvents(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "ws", "auto"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			server := start(t, nil)
			create(t, server, "configmaps", named("goes"))
			ctx, cancel := context.WithCancelCause(t.Context())
			file := filepath.Join(t.TempDir(), "run")
			var out, errs lockedBuffer
			done := make(chan int)
			go func() {
				done <- run(ctx, []string{"-s", server.URL, "cm", "no", "--transport", transport, "--record", file, "-o", "json", "--output-watch-events", "-v"}, &out, &errs, false)
			}()
			eventually(t, "the list messages", func() bool { return strings.Count(errs.String(), "listed at resourceVersion") == 2 })
			server.Close()
			require.NoError(t, server.Delete("configmaps", "default", "goes"))
			require.NoError(t, server.Restart())
			eventually(t, "the relist messages", func() bool { return strings.Count(errs.String(), "relisted at") == 2 })
			create(t, server, "nodes", named("n"))
			eventually(t, "the created node", func() bool { return strings.Contains(out.String(), `"n"`) })
			cancel(errInterrupted)
			require.Equal(t, exitInterrupted, <-done)

			code, replayed, messages := lwcat(t, "--replay", file, "-o", "json", "--output-watch-events")
			require.Equal(t, exitDone, code, messages)
			require.Equal(t, out.String(), replayed)
			require.Equal(t, 2, strings.Count(messages, "; relisting"), messages)
			require.Equal(t, strings.Count(errs.String(), "resuming"), strings.Count(messages, "resuming"), messages)
		})
	}
}
