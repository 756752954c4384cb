// Command conformance checks a Kubernetes list-watch client. It serves misbehaving servers over HTTP, runs the client
// against each of them, and judges its output. Authors of a client write a driver for it; docs/conformance.md explains
// how:
//
//	go run github.com/seed-6d2a410a/listwatch/conformance@latest -- ./driver
//
// The Makefile of this project runs the clients in clients.json, and writes the results to docs/conformance.md.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// settings contains the flags. Their usage strings describe the fields.
type settings struct {
	hostileFor time.Duration
	parallel   int
	only       string
	seed       uint64
	long       bool
	logs       string
	clients    string
	ours       bool
	webSocket  bool
	document   string
	command    string // the command line; the document shows it, so that readers can repeat the run
}

func main() {
	s := settings{command: "go run ./conformance " + strings.Join(os.Args[1:], " ")}
	flag.DurationVar(&s.hostileFor, "for", 25*time.Second, "how long each server misbehaves")
	flag.IntVar(&s.parallel, "parallel", 32, "number of trials in progress at the same time")
	flag.StringVar(&s.only, "only", "", "run only the trials whose whole name matches this regular expression")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the random changes")
	flag.BoolVar(&s.long, "long", false, "also run the trials that may take seven minutes")
	flag.StringVar(&s.logs, "logs", "", "write the output, the errors and the requests of each trial to this folder")
	flag.StringVar(&s.clients, "clients", "", "run the clients that this file describes, instead of one driver")
	flag.BoolVar(&s.ours, "ours", false, "with -clients, run only the clients of this project")
	flag.BoolVar(&s.webSocket, "ws", false, "also run the trials with a ws:// URL, for drivers that can watch over WebSocket")
	flag.StringVar(&s.document, "write", "", "write the results to this document")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// read returns the clients to run.
func (s *settings) read(command []string) (clients []*client, err error) {
	if s.clients == "" {
		if len(command) == 0 {
			return nil, errors.New("a driver is required: conformance [flags] -- ./driver")
		}
		// Ours is true, so that a failure of the driver fails the suite.
		return []*client{{Name: "driver", Ours: true, WebSocket: s.webSocket, Run: command}}, nil
	}
	text, err := os.ReadFile(s.clients)
	if err == nil {
		err = json.Unmarshal(text, &clients)
	}
	notes := map[string][]note{}
	for _, c := range clients {
		c.Notes = append(c.Notes, notes[c.NotesOf]...)
		notes[c.Name] = c.Notes
		if len(c.Needs) > 0 && (c.Ours || !s.ours) && exec.Command(c.Needs[0], c.Needs[1:]...).Run() != nil {
			c.missing = true
			fmt.Printf("skipped %s. To run it, use: %s\n", c.Name, c.Install)
			if os.Getenv("LISTWATCH_CI") != "" {
				return nil, fmt.Errorf("%s is not installed, but continuous integration must run it: %s", c.Name, c.Install)
			}
		}
	}
	if s.ours {
		clients = slices.DeleteFunc(clients, func(c *client) bool { return !c.Ours })
	}
	return clients, err
}

func (s *settings) run(ctx context.Context, command []string) error {
	only, err := regexp.Compile("^(" + s.only + ")$")
	if err != nil {
		return err
	}
	clients, err := s.read(command)
	if err != nil {
		return err
	}
	if s.parallel < 1 {
		return fmt.Errorf("-parallel must be at least 1, not %d", s.parallel)
	}
	if s.logs != "" {
		if err := os.MkdirAll(s.logs, 0o755); err != nil {
			return err
		}
	}
	trials := all(s.seed)
	if s.only != "" {
		trials = slices.DeleteFunc(trials, func(t *trial) bool { return !only.MatchString(t.Name) })
	}
	// The longest trials run first, so that the suite does not have to wait for a single long trial at the end.
	queue := slices.SortedStableFunc(slices.Values(trials), func(a, b *trial) int { return cmp.Compare(b.deadline, a.deadline) })
	found, failures := results{}, 0
	var mu sync.Mutex
	var group sync.WaitGroup
	free := make(chan struct{}, s.parallel)
	for _, c := range clients {
		found[c.Name] = map[string]outcome{}
	}
	for _, t := range queue {
		for _, c := range clients {
			if t.deadline == honored && !s.long || c.missing || !c.supports(t) {
				continue
			}
			free <- struct{}{}
			group.Go(func() {
				defer func() { <-free }()
				r, err := s.try(ctx, t, c)
				if ctx.Err() != nil {
					return
				}
				o := outcome{ran: true, failed: "error"}
				if err == nil {
					o = r.judge()
				} else {
					o.violation = err.Error()
				}
				mu.Lock()
				defer mu.Unlock()
				found[c.Name][t.Name] = o
				switch note := c.note(t, o.failed); {
				case o.failed == "":
					fmt.Printf("pass   %s, %s: caught up in %.1f s, %d requests\n", c.Name, t.Name, r.caught.Sub(r.settled).Seconds(), len(r.requests))
				case note > 0:
					fmt.Printf("noted  %s, %s: %s: %s\n", c.Name, t.Name, o.failed, o.violation)
				default:
					fmt.Printf("FAILED %s, %s: %s: %s\n", c.Name, t.Name, o.failed, o.violation)
					if c.Ours {
						failures++
					}
				}
			})
		}
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.document != "" {
		if err := s.write(s.document, clients, trials, found); err != nil {
			return err
		}
	}
	if failures > 0 {
		return fmt.Errorf("%d trials failed; for the client's output and requests in one of them, run it again with -only NAME -logs FOLDER", failures)
	}
	return nil
}

// try runs a trial with a client's command, over a real TCP connection.
func (s *settings) try(ctx context.Context, t *trial, c *client) (*run, error) {
	name := strings.ReplaceAll(c.Name, "/", " ") + ", " + t.Name // becomes a file name, which must not contain a slash
	var stderr io.Writer
	if s.logs != "" {
		file, err := os.Create(filepath.Join(s.logs, name+".stderr"))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		stderr = file
	}
	folder, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	g, env, err := t.open(folder)
	if err != nil {
		return nil, err
	}
	peak := 0
	start := func(ctx context.Context, url string, out io.Writer) error {
		cmd := exec.CommandContext(ctx, c.Run[0], slices.Concat(c.Run[1:], []string{url, resource, namespace})...)
		cmd.Env = slices.Concat(os.Environ(), c.Env, env)
		// If a child process survives and keeps the output open, WaitDelay ends Run nevertheless.
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, stderr, 2*time.Second
		ownGroup(cmd)
		cmd.Cancel = func() error {
			peak = peakRSS(cmd.Process.Pid) // before the kill, because it needs a running process
			return killGroup(cmd.Process)
		}
		return cmd.Run()
	}
	r := play(ctx, t, s.hostileFor, start, g.serve)
	r.misused, r.peak = g.misused(), peak
	if s.logs != "" {
		return r, s.save(name, r)
	}
	return r, nil
}

// peakRSS returns the peak RSS of a running process in bytes. It returns 0 on systems other than Linux.
func peakRSS(pid int) (kB int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscan(peak, &kB)
	return kB << 10 // in bytes
}

// save writes the driver's output and the requests of a trial, ordered by time.
func (s *settings) save(name string, r *run) error {
	file, err := os.Create(filepath.Join(s.logs, name+".log"))
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
	fmt.Fprintf(file, "%s the server behaves correctly\n", r.settled.Format("15:04:05.000"))
	if !r.caught.IsZero() {
		fmt.Fprintf(file, "%s the driver's copy is correct\n", r.caught.Format("15:04:05.000"))
	}
	if r.differs != "" {
		fmt.Fprintf(file, "             the driver's copy stays wrong: %s\n", r.differs)
	}
	return file.Close()
}
