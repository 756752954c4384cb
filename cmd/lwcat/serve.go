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
	"github.com/spf13/pflag"
)

// serve implements lwcat serve. It serves a recording as an API server until ctx ends.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	set.Usage = func() {}
	listen := set.String("listen", "127.0.0.1:0", "")
	err := set.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		_, err = io.WriteString(stdout, serveHelp)
		return err
	}
	if err == nil && set.NArg() != 1 {
		err = errors.New("expected one recording: lwcat serve FILE")
	}
	if err != nil {
		return usageError{err}
	}
	file, speed, err := cutSpeed(set.Arg(0))
	if err != nil {
		return usageError{err}
	}
	recorded, err := recording.Open(file)
	if err != nil {
		return err
	}
	defer recorded.Close()
	return playRecording(ctx, recorded, speed, *listen, stdout, &status{out: stderr})
}

const serveHelp = `lwcat serve FILE[@SPEED] [--listen ADDRESS]

serves a recording of lwcat --record as an API server for kubectl, client-go or lwcat, and prints its URL. The state changes
as the recording plays, and stays at the end. SPEED is the same as for --replay. The default ADDRESS is 127.0.0.1:0: a free
port that only this machine can reach. The server requires no token, but a recording may contain Secrets.
`

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
	if err != nil { // package served then guesses the resources
		return nil
	}
	return all.All
}
