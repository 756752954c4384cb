// Watches compares informers with client-go's dynamic ones, end to end over loopback, with 1, 100 and 1,000 of them: what one
// costs in memory while nothing happens, and what an event of a Pod of 6.5 kB costs in processor time, from the socket to two
// handlers. HTTP/1.1 and WebSocket are without TLS, HTTP/2 is with, for both sides. Every measurement has a client's process
// and a server's process of its own; what is told is the client's.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/informers"
)

var transports = []string{informers.HTTP1, informers.HTTP2, informers.WebSocket}

// Client-go is given fewer events, as it takes more than twenty times as long for each.
var events = map[string]int{"listwatch": 100_000, "client-go": 5_000}

var (
	counts  = flag.String("watches", "1,100,1000", "how many there are, each on its own")
	rounds  = flag.Int("rounds", 3, "how often all is measured, in turns; the medians are printed")
	idle    = flag.Duration("idle", 16*time.Second, "how long the processor time of idle watches is measured, once, where there are most; timers go every 10 and every 15 s")
	short   = flag.Bool("short", false, "a few watches and events, only to see that all works")
	start   = flag.Int("start", 0, "start this many watches at once over HTTP/2, and report the connections dialed and the time until all are live")
	profile = flag.String("profile", "", "a folder for heap profiles of idle watches")
)

func main() {
	if informers.Worker() {
		return
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := compare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "watches:", err)
		os.Exit(1)
	}
}

// compare measures everything, in turns.
func compare(ctx context.Context) error {
	if *start > 0 {
		return startAtOnce(ctx)
	}
	if *short {
		*counts, *rounds, *idle = "1,20", 1, 0
	}
	numbers, err := watches()
	if err != nil {
		return err
	}
	found := newResults(numbers)
	for round := range *rounds {
		for _, t := range tasks(numbers, round == 0) {
			fmt.Fprintf(os.Stderr, "round %d of %d: %d watches, %s, %s\n", round+1, *rounds, t.Watches, t.Contender, t.Transport)
			measured, err := informers.Measure(ctx, t)
			if err != nil {
				return fmt.Errorf("%d watches, %s, %s: %w", t.Watches, t.Contender, t.Transport, err)
			}
			found.add(t, measured)
		}
	}
	return found.print(os.Stdout)
}

// startAtOnce measures how many connections it takes to start many watches at once.
func startAtOnce(ctx context.Context) error {
	if err := informers.Room(*start); err != nil {
		return err
	}
	for _, contender := range []string{"listwatch", "client-go"} {
		task := informers.Task{Contender: contender, Transport: informers.HTTP2, Watches: *start, StartOnly: true}
		r, err := informers.Measure(ctx, task)
		if err != nil {
			return fmt.Errorf("%d watches at once, %s: %w", *start, contender, err)
		}
		fmt.Printf("%s: %d connections dialed, at most %d open at once; all %d watches live after %.1f s\n",
			contender, r.Dialed, r.OpenAtMax, *start, r.Start.Seconds())
	}
	return nil
}

// tasks are those of a round. What takes long is measured in the first one only.
func tasks(numbers []int, first bool) (all []informers.Task) {
	for _, n := range numbers {
		t := informers.Task{Watches: n, Pods: 1000, Profile: *profile}
		if n == 1 {
			t.Rate, t.Paced = 1000, 2*time.Second
		}
		if n == slices.Max(numbers) && first {
			t.Idle = *idle
		}
		for _, t.Contender = range []string{"listwatch", "client-go"} {
			t.Events = events[t.Contender]
			if *short {
				t.Pods, t.Events, t.Paced = 20, 400, time.Second/10
			}
			for _, t.Transport = range transports {
				if t.Contender != "client-go" || t.Transport != informers.WebSocket { // which it has not
					all = append(all, t)
				}
			}
		}
	}
	return all
}

// watches reads the flag, and looks whether there are files enough: every connection is one.
func watches() (numbers []int, err error) {
	for text := range strings.SplitSeq(*counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-watches %s: not a list of numbers, as 1,100", *counts)
		}
		numbers = append(numbers, n)
	}
	return numbers, informers.Room(slices.Max(numbers))
}
