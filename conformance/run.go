package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

const (
	namespace = "shop"
	resource  = "configmaps"
)

// line is the JSON format of one line of a driver's output.
type line struct {
	Type            string `json:"type"`
	Key             string `json:"key"`
	ResourceVersion string `json:"resourceVersion"`
	UID             string `json:"uid"`
	Version         string `json:"version"` // version of the client, in a line of the type CLIENT
	// Object may contain the UID instead of the field UID, so that lwcat's output needs no conversion.
	Object struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	} `json:"object"`

	at time.Time // when the suite received the line
}

// identity contains the metadata that a driver prints for an object. By comparing it, the suite finds out whether the
// driver's copy is current.
type identity struct{ version, uid string }

// request describes one of the client's requests that reached the server.
type request struct {
	at   time.Time
	page bool   // whether the request asks for a later page of a list; such requests do not count as load
	path string // path and query, for the log
}

// run is one trial of one client: the lines that the client printed, its requests, and the observations of the suite.
type run struct {
	trial *trial

	mu       sync.Mutex // guards the following fields, because the driver and the server write them during the trial
	lines    []line
	held     map[string]identity // the driver's copy of the collection, by key: the result of applying lines
	requests []request
	invalid  string // the first line that could not be parsed, and why
	exited   string // why the driver ended before it was stopped
	partial  []byte // the beginning of a line whose end has not been received yet

	// Only play and its caller write the following fields, so they need no lock.
	settled time.Time // when the server stopped misbehaving
	caught  time.Time // when the driver's copy became correct after settled; zero if it never did
	differs string    // the last difference that was found between the driver's copy and the server's objects, or ""
	follows bool      // whether a driver that did not catch up still printed later changes; if so, it has lost earlier ones
	cut     time.Time // when the last outage began
	back    time.Time // when the last outage ended
	misused string    // result of gate.misused
	peak    int       // the driver's peak RSS in bytes, or 0 if it is unknown
}

func (r *run) lock(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// Write receives the driver's output, which may be split anywhere.
func (r *run) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial = append(r.partial, text...)
	for {
		before, after, found := bytes.Cut(r.partial, []byte("\n"))
		if !found {
			return len(text), nil
		}
		r.partial = after
		r.add(before)
	}
}

// add applies a line to the driver's copy.
func (r *run) add(text []byte) {
	l := line{at: time.Now()}
	if err := json.Unmarshal(text, &l); err != nil {
		if r.invalid == "" {
			r.invalid = fmt.Sprintf("%.100q: %s", text, advice(err))
		}
		return
	}
	if l.UID == "" {
		l.UID = l.Object.Metadata.UID
	}
	r.lines = append(r.lines, l)
	switch l.Type {
	case "ADDED", "MODIFIED":
		r.held[l.Key] = identity{l.ResourceVersion, l.UID}
	case "DELETED":
		delete(r.held, l.Key)
	}
}

// advice says what the author of a driver has to change in a line that could not be parsed.
func advice(err error) string {
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%s must be a %s, not a %s", wrong.Field, wrong.Type, wrong.Value)
	}
	return "each line must be a JSON object, so write everything else to stderr: " + err.Error()
}

// log records a request for the collection.
func (r *run) log(sent *http.Request) {
	r.lock(func() {
		r.requests = append(r.requests, request{time.Now(), sent.URL.Query().Get("continue") != "", sent.URL.String()})
	})
}

// difference describes how the driver's copy differs from the server's objects. It returns "" if they are equal.
func (r *run) difference(w *hostile.World) (found string) {
	versions, uids := w.Versions(), w.UIDs()
	r.lock(func() {
		for name, version := range versions {
			want, key := identity{version, uids[name]}, namespace+"/"+name
			if got, ok := r.held[key]; !ok {
				found = fmt.Sprintf("%q is missing", key)
			} else if got != want {
				found = fmt.Sprintf("%q has the resourceVersion and UID %v instead of %v", key, got, want)
			}
		}
		for key := range r.held {
			name, inNamespace := strings.CutPrefix(key, namespace+"/")
			if _, exists := versions[name]; found == "" && !(inNamespace && exists) {
				found = fmt.Sprintf("the client has %d objects instead of %d, for example %q, which does not exist", len(r.held), len(versions), key)
			}
		}
	})
	return found
}

// driver runs a client until ctx is done or the client exits. The client follows the server at url and prints to out.
type driver func(ctx context.Context, url string, out io.Writer) error

// serve makes a server reachable at url until stop is called.
type serve func(server *hostile.Server) (url string, stop func())

// pollEvery is the time between two comparisons of the driver's copy with the server.
const pollEvery = 100 * time.Millisecond

// showWithin is how long a client that follows the collection may take to show a change.
const showWithin = 5 * time.Second

// startWithin is how long play waits for the driver's first request. On a busy machine, a client may take that long to
// start. If the server freezes connections, a request may never arrive, so play waits only connectWithin, which is long
// enough to connect.
const (
	startWithin   = 3 * time.Minute
	connectWithin = 30 * time.Second
)

// play runs a trial. The server misbehaves for the time hostileFor. After that, it behaves correctly, and the driver
// must catch up.
func play(ctx context.Context, t *trial, hostileFor time.Duration, start driver, reach serve) *run {
	r := &run{trial: t, held: map[string]identity{}}
	server := t.Start()
	server.Log = r.log
	url, stop := reach(server)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := start(ctx, url, r)
		r.lock(func() {
			if ctx.Err() == nil {
				r.exited = fmt.Sprintf("the driver exited: %v", err)
			}
		})
	}()
	defer func() { cancel(); <-ended }()

	// On a busy machine, a client may start so late that the server would no longer misbehave. So wait for its first
	// request.
	limit := startWithin
	if t.freezes > 0 {
		limit = connectWithin
	}
	for end := time.Now().Add(limit); r.requested() == 0 && time.Now().Before(end) && !r.over(ctx); {
		wait(ctx, pollEvery)
	}
	if t.rebuild == nil { // a rebuild, below, has an outage of its own
		// A client that uses streaming lists sends no other watch until its connection breaks. Break the connection
		// once, because otherwise the trial would not cover ordinary watches.
		r.disturb(ctx, server, 3*time.Second)
		r.outage(ctx, server, &hostile.Rebuild{Same: true})
	}
	r.disturb(ctx, server, hostileFor)
	r.settled = time.Now()
	server.Behave(t.Lies)
	if t.rebuild != nil {
		r.await(ctx, server, t.deadline) // the client must be live before the outage, because otherwise it could not report that it becomes stale
		r.outage(ctx, server, t.rebuild)
	} else if t.Lies { // a client cannot detect that an open watch has omitted events, so give the client a reason to list
		r.outage(ctx, server, &hostile.Rebuild{Same: true})
	}
	if r.await(ctx, server, t.deadline); r.differs != "" {
		// There are two possible faults: the client no longer follows the collection, or it follows the collection but
		// has a wrong copy. Further changes show which of them it is.
		before := r.printed()
		r.disturb(ctx, server, 2*time.Second)
		for end := time.Now().Add(showWithin); !r.follows && time.Now().Before(end) && !r.over(ctx); wait(ctx, pollEvery) {
			r.follows = r.printed() > before
		}
		return r
	}
	r.caught = time.Now()
	// More changes show whether the client still watches.
	r.disturb(ctx, server, 2*time.Second)
	r.await(ctx, server, t.deadline)
	return r
}

// requested returns the number of requests.
func (r *run) requested() (count int) {
	r.lock(func() { count = len(r.requests) })
	return count
}

// printed returns the number of lines.
func (r *run) printed() (count int) {
	r.lock(func() { count = len(r.lines) })
	return count
}

// disturb changes random objects for a while.
func (r *run) disturb(ctx context.Context, server *hostile.Server, duration time.Duration) {
	for end := time.Now().Add(duration); time.Now().Before(end) && !r.over(ctx); {
		// The pauses are up to nine seconds long, because they are meant for simulated time. Real time needs shorter
		// ones.
		wait(ctx, server.Pause()/20)
		server.Step()
	}
}

// outage makes the server unreachable. The outage lasts for at least a second, and until all requests have ended. In a
// trial with a rebuild, it also lasts until the driver reports it or staleWithin has passed. The parameter as describes
// the server after the outage.
func (r *run) outage(ctx context.Context, server *hostile.Server, as *hostile.Rebuild) {
	r.cut = time.Now()
	server.Cut()
	for !r.over(ctx) && (server.Open() > 0 || time.Since(r.cut) < time.Second || r.trial.rebuild != nil && time.Since(r.cut) < staleWithin && !r.reportsStale()) {
		wait(ctx, pollEvery)
	}
	r.back = time.Now()
	if !r.over(ctx) { // otherwise requests may still be in progress, and Resume must not replace their data
		server.Resume(as)
	}
}

// await waits until the driver's copy is correct or the limit has passed.
func (r *run) await(ctx context.Context, server *hostile.Server, limit time.Duration) {
	for began := time.Now(); ; wait(ctx, pollEvery) {
		if r.differs = r.difference(server.World); r.differs == "" || r.over(ctx) || time.Since(began) > limit {
			return
		}
	}
}

// over reports whether the driver has exited or the run was canceled.
func (r *run) over(ctx context.Context) (over bool) {
	r.lock(func() { over = r.exited != "" || ctx.Err() != nil })
	return over
}

// wait waits for d, or until ctx is done.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
