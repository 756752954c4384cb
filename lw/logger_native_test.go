//go:build !js

package lw_test

import (
	"bytes"
	"log"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// captureDefault redirects the default logger to the returned buffer until the test ends.
func captureDefault(t *testing.T) *bytes.Buffer {
	var out bytes.Buffer
	logger, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(writer)
		log.SetFlags(flags)
	})
	return &out
}

func untilInterrupted(t *testing.T, pods lw.ListerWatcher[*lw.Object], opts *lw.Options) {
	for event := range lw.ListAndWatch(t.Context(), pods, opts) {
		if event.Type == lw.Interrupted {
			return
		}
	}
}

func TestDefaultLoggerReportsForbidden(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"guest": false}})
	require.NoError(t, err)
	defer server.Close()
	transport, err := lwhttp.New(server.URL, &lwhttp.Options{Token: "guest"})
	require.NoError(t, err)
	defer transport.Close()
	pods, err := lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
	require.NoError(t, err)

	out := captureDefault(t)
	untilInterrupted(t, pods, nil)
	line := out.String()
	require.Contains(t, line, `level=WARN msg="listwatch: the stream was interrupted" cause="the server answered 403 Forbidden: pods is forbidden`)
	require.Contains(t, line, "collection=default/pods next=relist delay=")
	require.Contains(t, line, `remedy="grant the user the list and watch verbs on this resource"`)

	out.Reset()
	untilInterrupted(t, pods, &lw.Options{Warn: slog.New(slog.DiscardHandler).Warn})
	require.Empty(t, out.String())
}
