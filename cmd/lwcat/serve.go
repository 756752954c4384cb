package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/served"
	"github.com/spf13/cobra"
)

// newServe returns the command lwcat serve. It serves a recording as an API server until its context ends.
func newServe(status *status) *cobra.Command {
	serve := &cobra.Command{
		Use: "serve FILE[@SPEED]", Short: "serve a recording as an API server", Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("expected one recording: lwcat serve FILE")
			}
			return nil
		},
		Long: `lwcat serve serves a recording of lwcat --record as an API server for kubectl, client-go or lwcat, and prints
its URL. The state changes as the recording plays, and stays at the end. SPEED is the same as for
--replay. The server requires no token, but a recording may contain Secrets.`,
	}
	listen := serve.Flags().String("listen", "127.0.0.1:0", "`ADDRESS` to listen on; by default, a free port that only this machine can reach")
	serve.RunE = func(cmd *cobra.Command, args []string) error {
		file, speed, err := cutSpeed(args[0])
		if err != nil {
			return usageError{err}
		}
		recorded, err := recording.Open(file)
		if err != nil {
			return err
		}
		defer recorded.Close()
		return playRecording(cmd.Context(), recorded, speed, *listen, cmd.OutOrStdout(), status)
	}
	return serve
}

// playRecording serves a recording while it plays, and then serves its final state.
func playRecording(ctx context.Context, recorded *recording.Recording, speed float64, listen string, stdout io.Writer, status *status) error {
	server, skipped, err := served.New(ctx, recorded, recordedResources(ctx, recorded))
	if err != nil {
		return errors.Join(err, recorded.Broken)
	}
	defer server.Close()
	for _, path := range skipped {
		status.logf("%s is not served: it is not an API path", path)
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(status.out, "lwcat: ", 0)}
	defer web.Close()
	go web.Serve(listener)
	if _, err := fmt.Fprintf(stdout, "http://%s\n", listener.Addr()); err != nil {
		return err
	}
	frames, err := server.Run(ctx, speed)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		status.logf("%v", err)
	}
	status.logf("played %d frames recorded in %v; serving the final state until ^C", frames, recorded.Length.Round(time.Millisecond))
	<-ctx.Done()
	return context.Cause(ctx)
}

// recordedResources returns the resources from the recorded discovery documents, or nil if there are none.
func recordedResources(ctx context.Context, recorded *recording.Recording) []discovery.Resource {
	all, err := discovery.Ask(ctx, recorded.Play(0).Discovery())
	if err != nil { // package served then derives the resources from the objects
		return nil
	}
	return all.All
}
