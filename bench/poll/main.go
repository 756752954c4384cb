// Poll compares clients that list a collection every so often with clients that watch it: requests, bytes and processor time
// at the server, and how old a change is when a client holds it, for 1 to 1,000 clients, for collections of different sizes,
// and for different rates of change. Server and clients have a process each, on loopback, without TLS; the clients are this
// library's in both cases, each with a connection of its own. The server is lw/lwtest, whose lists cost far less than a
// kube-apiserver's, as its objects are encoded already, and which compresses lists as that does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

var (
	counts = flag.String("clients", "1,10,100,1000", "how many clients there are")
	pods   = flag.Int("pods", 100, "how many Pods, of 7 kB each, where nothing else is said")
	rate   = flag.Float64("rate", 1, "how many of them change in a second, where nothing else is said")
	rounds = flag.Int("rounds", 2, "how often clients that poll every second and those that watch are measured, in turns")
	short  = flag.Bool("short", false, "little work, only to see that all works")
)

const second = time.Second

// ways are those that are compared, in the order in which they are measured and printed.
var (
	everySecond = way{Every: second}
	everyTen    = way{Every: 10 * second}
	tagged      = way{Every: second, ETag: true}
	watching    = way{}
)

func (w way) String() string {
	switch {
	case w.ETag:
		return fmt.Sprintf("poll every %v, with ETags", w.Every)
	case w.Every > 0:
		return fmt.Sprintf("poll every %v", w.Every)
	}
	return "watch"
}

func (t task) String() string {
	if t.Clients == 0 {
		return "nobody"
	}
	return t.way.String()
}

// part is a table: what is in it, and how often it is measured.
type part struct {
	title  string
	column string
	of     func(task) string // what stands in the column
	tasks  []task
	rounds int
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "server" {
		serve(os.Args[2])
		return
	}
	if measure.Worker("clients", run) {
		return
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := compare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "poll:", err)
		os.Exit(1)
	}
}

func compare(ctx context.Context) error {
	parts, err := plan()
	if err != nil {
		return err
	}
	for _, p := range parts {
		found := make([][]result, len(p.tasks))
		for round := range p.rounds {
			for i, t := range p.tasks {
				if round > 0 && t.way == everyTen {
					continue // takes long, and a window holds one list of every client
				}
				fmt.Fprintf(os.Stderr, "round %d of %d: %s, %s %s, %v\n", round+1, p.rounds, p.title, p.of(t), p.column, t)
				var r result
				if err := measure.Apart(ctx, "clients", t, &r); err != nil {
					return err
				}
				found[i] = append(found[i], r)
			}
		}
		if err := printPart(os.Stdout, p, found); err != nil {
			return err
		}
	}
	return nil
}

// plan says what is measured.
func plan() ([]part, error) {
	base := task{Clients: 10, Pods: *pods, Rate: *rate, Window: 5 * second}
	clients, err := numbers(*counts)
	sizes, rates := []int{10, 1000}, []float64{0, 10, 100}
	if *short {
		clients, sizes, rates, *rounds = []int{2}, nil, []float64{10}, 1
		base.Pods, base.Rate, base.Window = 5, 10, second/2
		everySecond.Every, tagged.Every = second/10, second/10
	}
	number := part{title: fmt.Sprintf("%d Pods, %v changes a second", base.Pods, base.Rate), column: "clients",
		of: func(t task) string { return strconv.Itoa(t.Clients) }, rounds: *rounds}
	number.tasks = append(number.tasks, base.nobody())
	for _, base.Clients = range clients {
		number.tasks = append(number.tasks, base.with(everySecond), base.with(watching))
		if !*short {
			number.tasks = append(number.tasks, base.with(everyTen))
		}
	}
	base.Clients = 10
	size := part{title: fmt.Sprintf("10 clients, %v changes a second", base.Rate), column: "Pods",
		of: func(t task) string { return strconv.Itoa(t.Pods) }, rounds: 1}
	for _, n := range sizes {
		t := base
		t.Pods = n
		size.tasks = append(size.tasks, t.with(everySecond), t.with(watching))
	}
	change := part{title: fmt.Sprintf("10 clients, %d Pods", base.Pods), column: "changes/s",
		of: func(t task) string { return fmt.Sprint(t.Rate) }, rounds: 1}
	for _, base.Rate = range rates {
		change.tasks = append(change.tasks, base.nobody(), base.with(everySecond), base.with(watching))
		if base.Rate <= 10 { // a list that changes all the time is never the same
			change.tasks = append(change.tasks, base.with(tagged))
		}
	}
	return []part{number, size, change}, err
}

// with is the task with the way to follow. A window holds as many lists of one client as of another.
func (t task) with(w way) task {
	t.way, t.Window = w, max(t.Window, w.Every)
	return t
}

// nobody is the task without clients: what the writes cost.
func (t task) nobody() task {
	t.Clients = 0
	return t
}

func numbers(list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-clients %s: not a list of numbers, as 1,100", list)
		}
		all = append(all, n)
	}
	return all, nil
}
