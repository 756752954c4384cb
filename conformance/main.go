// Command conformance checks a Kubernetes list-watch client. It serves misbehaving servers over HTTP, runs the client
// against each of them, and judges its output.
//
//	go run github.com/seed-6d2a410a/listwatch/conformance@latest -- ./driver
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

type settings struct {
	hostileFor time.Duration
	parallel   int
	only       string
	seed       uint64
	logs       string
}

func main() {
	var s settings
	flag.DurationVar(&s.hostileFor, "for", 25*time.Second, "how long each server misbehaves")
	flag.IntVar(&s.parallel, "parallel", 32, "number of trials in progress at the same time")
	flag.StringVar(&s.only, "only", "", "run only the trials whose name matches this regular expression")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the random changes")
	flag.StringVar(&s.logs, "logs", "", "write the output, the errors and the requests of each trial to this folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func (s *settings) run(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return fmt.Errorf("a driver is required: conformance [flags] -- ./driver")
	}
	only, err := regexp.Compile(s.only)
	if err != nil {
		return err
	}
	failures := 0
	var mu sync.Mutex
	var group sync.WaitGroup
	free := make(chan struct{}, s.parallel)
	for _, t := range all(s.seed) {
		if !only.MatchString(t.Name) {
			continue
		}
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			r, err := s.try(ctx, t, command)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures++
				fmt.Printf("%-24s %v\n", t.Name, err)
				return
			}
			failed, violation := r.judge()
			if failed == "" {
				fmt.Printf("%-24s pass, caught up in %.1f s with %d requests\n", t.Name, r.caught.Sub(r.settled).Seconds(), len(r.requests))
				return
			}
			failures++
			fmt.Printf("%-24s FAILED %s: %s\n", t.Name, failed, violation)
		})
	}
	group.Wait()
	if failures > 0 {
		return fmt.Errorf("%d trials failed", failures)
	}
	return nil
}

// try runs a trial with a driver that is a command.
func (s *settings) try(ctx context.Context, t *trial, command []string) (*run, error) {
	var stderr io.Writer
	if s.logs != "" {
		file, err := os.Create(filepath.Join(s.logs, t.Name+".stderr"))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		stderr = file
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	start := func(ctx context.Context, url string, out io.Writer) error {
		cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], url, resource, namespace)...)
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, stderr, 2*time.Second
		return cmd.Run()
	}
	r := play(ctx, t, s.hostileFor, start, func(server *hostile.Server) (string, func()) {
		web := &http.Server{Handler: server, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = web.Serve(listener) }()
		return "http://" + listener.Addr().String(), func() { _ = web.Close() }
	})
	if s.logs != "" {
		return r, s.save(r)
	}
	return r, nil
}

// save writes the driver's output and the requests of a trial, ordered by time.
func (s *settings) save(r *run) error {
	file, err := os.Create(filepath.Join(s.logs, r.trial.Name+".log"))
	if err != nil {
		return err
	}
	requests := r.requests
	for _, l := range r.lines {
		for ; len(requests) > 0 && requests[0].at.Before(l.at); requests = requests[1:] {
			fmt.Fprintf(file, "%s request %s\n", requests[0].at.Format("15:04:05.000"), requests[0].path)
		}
		fmt.Fprintf(file, "%s %s %q %s %s\n", l.at.Format("15:04:05.000"), l.Type, l.Key, l.ResourceVersion, l.UID)
	}
	for _, request := range requests {
		fmt.Fprintf(file, "%s request %s\n", request.at.Format("15:04:05.000"), request.path)
	}
	fmt.Fprintf(file, "%s behaved since, %s correct since, difference: %s\n", r.settled.Format("15:04:05.000"), r.caught.Format("15:04:05.000"), r.differs)
	return file.Close()
}
