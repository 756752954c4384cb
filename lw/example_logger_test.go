//go:build !js

package lw_test

import (
	"context"
	"log/slog"
	"os"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// A Logger receives the cause of an interruption, the next request and the remedy.
func ExampleLogger() {
	server, pods, end := serve("web-0")
	defer end()
	server.Fail(lwtest.Lists, 1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden", Message: "no rights"}))
	withoutTimes := func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey || attr.Key == "delay" {
			return slog.Attr{}
		}
		return attr
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTimes}))
	opts := &lw.Options{Warn: logger.Warn, NoStreamingList: true}
	for event := range lw.ListAndWatch(context.Background(), pods, opts) {
		if event.Type == lw.Interrupted {
			return
		}
	}
	// Output:
	// level=WARN msg="listwatch: the stream was interrupted" cause="the server answered 403 Forbidden: no rights" collection=default/pods next=relist remedy="grant the user the list and watch verbs on this resource"
}
