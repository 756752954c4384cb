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

// serve is lwcat serve: a recording as an API server, until it is interrupted.
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
		err = errors.New("one recording is to be named: lwcat serve FILE")
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

plays what lwcat --record has written as an API server, for kubectl, client-go or another lwcat, and prints its URL. What it
has is what was recorded until then; at the end it stays. SPEED is as for --replay. ADDRESS is 127.0.0.1:0 unless given: a free
port for this machine only. Nobody is asked for a token, and a recording may hold Secrets.
`

// playRecording serves a recording while it is played, and its final state afterwards.
func playRecording(ctx context.Context, recorded *recording.Recording, speed float64, listen string, stdout io.Writer, status *status) error {
	server, skipped, err := served.New(ctx, recorded, recordedResources(ctx, recorded))
	if err != nil {
		return errors.Join(err, recorded.Broken)
	}
	defer server.Close()
	for _, path := range skipped {
		status.logf("%s is not served: it is no path of an API", path)
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
	status.logf("played %d frames, of %v; what they have come to is served until ^C", frames, recorded.Length.Round(time.Millisecond))
	<-ctx.Done()
	return context.Cause(ctx)
}

// recordedResources returns the resources that the recorded run discovered, or nil.
func recordedResources(ctx context.Context, recorded *recording.Recording) []discovery.Resource {
	all, err := discovery.Ask(ctx, recorded.Play(0).Discovery())
	if err != nil { // what it has not learned is guessed
		return nil
	}
	return all.All
}
