package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// object is the metadata of a ConfigMap.
type object struct {
	Metadata struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

func (o *object) key() string { return o.Metadata.Namespace + "/" + o.Metadata.Name }

// reference is a small, correct list-watch client. If fault is not empty, the client contains this fault on purpose,
// and the suite must detect it. Such a client is called a mutant.
type reference struct {
	fault string
	http  *http.Client
	url   string
	out   io.Writer
	held  map[string]*object
	gone  []*object     // deleted objects; some mutants print them again
	at    string        // resourceVersion from which the next watch starts
	idle  time.Duration // time without data after which a watch is considered dead
}

func (d *reference) has(fault string) bool { return d.fault == fault }

func (d *reference) print(kind string, o *object) {
	l := line{Type: kind}
	if o != nil {
		l.Key, l.ResourceVersion, l.UID = o.key(), o.Metadata.ResourceVersion, o.Metadata.UID
		if d.has("omits the namespace") {
			l.Key = o.Metadata.Name
		}
		if d.has("prints one UID for all objects") {
			l.UID = "u-0"
		}
	}
	text, _ := json.Marshal(l)
	if d.has("prints resourceVersions as numbers") {
		text = []byte(strings.ReplaceAll(string(text), `"`+l.ResourceVersion+`"`, l.ResourceVersion))
	}
	if d.has("prints logs between the lines") {
		text = []byte("watching\n" + string(text))
	}
	_, _ = d.out.Write(append(text, '\n'))
}

var errGone = errors.New("410")

// run follows the collection until ctx is done.
func (d *reference) run(ctx context.Context, _ string, out io.Writer) error {
	d.out, d.held, d.idle = out, map[string]*object{}, 150*time.Second
	if d.has("has no idle timeout") {
		d.idle = 24 * time.Hour
	}
	list, delay := true, time.Second
	for ctx.Err() == nil {
		var err error
		began := time.Now()
		if list {
			err = d.list(ctx)
		}
		switch {
		case d.has("polls ten times per second") && err == nil:
			wait(ctx, 100*time.Millisecond)
			continue
		case d.has("lists only once") && err == nil:
			<-ctx.Done()
			return nil
		}
		if err == nil {
			err = d.watch(ctx)
		}
		if d.has("exits when a connection breaks") && err != nil && ctx.Err() == nil {
			return err
		}
		if d.has("gives up after an error") && err != nil {
			<-ctx.Done()
			return nil
		}
		if !d.has("never reports that it is stale") && !d.has("reports the outage after it") {
			d.print("STALE", nil)
		}
		// A server may have been rebuilt while the connection was broken, so relist after every error.
		list = err != nil
		if d.has("lists again only after 410") && !errors.Is(err, errGone) && d.at != "" {
			list = false
		}
		switch {
		case err == nil || time.Since(began) > 10*time.Second:
			delay = time.Second
		default:
			delay = min(2*delay, 30*time.Second)
		}
		if d.has("reconnects without a delay") || d.has("lists after each event") {
			delay = 10 * time.Millisecond // without any delay, simulated time would not advance
		}
		if d.has("waits for ten minutes after an error") && err != nil {
			delay = 10 * time.Minute
		}
		wait(ctx, delay)
	}
	return nil
}

func (d *reference) get(ctx context.Context, q url.Values) (io.ReadCloser, error) {
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/api/v1/namespaces/shop/configmaps?"+q.Encode(), nil)
	response, err := d.http.Do(request)
	switch {
	case err != nil:
		return nil, err
	case d.has("reports the outage after it"):
		d.print("STALE", nil)
	case response.StatusCode == http.StatusGone:
		err = errGone
	case response.StatusCode != http.StatusOK:
		err = errors.New(response.Status)
	}
	if err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response.Body, nil
}

func (d *reference) list(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	listed, q, at := map[string]*object{}, url.Values{"limit": {"500"}}, ""
	for {
		body, err := d.get(ctx, q)
		if err != nil {
			return err
		}
		var page struct {
			Kind     string `json:"kind"`
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
				Continue        string `json:"continue"`
			} `json:"metadata"`
			Items []*object `json:"items"`
		}
		err = json.NewDecoder(body).Decode(&page)
		_ = body.Close()
		switch {
		case err != nil && d.has("takes a truncated list for an empty list"):
			page.Kind, page.Metadata.ResourceVersion = "ConfigMapList", d.at
		case err != nil:
			return err
		}
		if page.Kind != "ConfigMapList" {
			return errors.New("not a list")
		}
		for _, o := range page.Items {
			listed[o.key()] = o
		}
		at = page.Metadata.ResourceVersion
		if page.Metadata.Continue == "" || d.has("reads only the first page") {
			break
		}
		q.Set("continue", page.Metadata.Continue)
	}
	for key, o := range d.held {
		if listed[key] == nil && !d.has("keeps objects that a list does not contain") {
			d.delete(o)
		}
	}
	for _, o := range listed {
		d.apply(o)
	}
	for _, o := range d.gone {
		if d.has("adds deleted objects again after a list") {
			d.apply(o)
		}
	}
	d.at = at
	d.print("SYNCED", nil)
	return nil
}

func (d *reference) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(d.idle, cancel)
	defer silent.Stop()
	q := url.Values{"watch": {"1"}, "resourceVersion": {d.at}, "timeoutSeconds": {"300"}, "allowWatchBookmarks": {"true"}}
	if d.has("watches without a resourceVersion") {
		q.Del("resourceVersion")
	}
	body, err := d.get(ctx, q)
	if err != nil {
		return err
	}
	defer body.Close()
	d.print("LIVE", nil)
	for decoder, first := json.NewDecoder(body), true; ; first = false {
		var event struct {
			Type   string  `json:"type"`
			Object *object `json:"object"`
		}
		switch err := decoder.Decode(&event); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case event.Type == "ERROR" || event.Object == nil:
			return errGone
		}
		silent.Reset(d.idle)
		if first && d.has("skips the first event of a watch") {
			d.at = event.Object.Metadata.ResourceVersion
			continue
		}
		switch o := event.Object; event.Type {
		case "ADDED", "MODIFIED":
			if newer(o.Metadata.ResourceVersion, d.at) || d.has("applies old events") {
				d.apply(o)
			}
		case "DELETED":
			old := d.held[o.key()]
			switch {
			case old != nil && !d.has("ignores deletions"):
				d.delete(o)
			case d.has("deletes unknown objects"):
				d.print("DELETED", o)
			}
		default:
			if event.Type != "BOOKMARK" {
				return fmt.Errorf("unknown type %q", event.Type)
			}
		}
		if newer(event.Object.Metadata.ResourceVersion, d.at) {
			d.at = event.Object.Metadata.ResourceVersion
		}
		if d.has("lists after each event") {
			return errGone
		}
	}
}

func newer(a, b string) bool {
	order, ok := lw.CompareResourceVersions(a, b)
	return !ok || order > 0
}

func (d *reference) apply(o *object) {
	before := d.held[o.key()]
	switch {
	case before == nil && !d.has("prints MODIFIED for new objects"):
		d.print("ADDED", o)
	case d.has("ignores modifications"):
		return
	case before == nil || *before != *o || d.has("prints unchanged objects as ADDED"):
		kind := "MODIFIED"
		if before != nil && d.has("prints unchanged objects as ADDED") {
			kind = "ADDED"
		}
		d.print(kind, o)
		if before != nil && d.has("prints the old state after the new state") {
			d.print("MODIFIED", before)
			d.print("MODIFIED", o)
		}
	}
	d.held[o.key()] = o
}

func (d *reference) delete(o *object) {
	d.gone = append(d.gone, o)
	delete(d.held, o.key())
	if !d.has("does not print deletions") {
		d.print("DELETED", o)
	}
}

// inMemory plays a trial in simulated time. The parameter after is the delay before the client starts.
func inMemory(t *testing.T, name, fault string, after time.Duration) (violations map[string]string) {
	synctest.Test(t, func(t *testing.T) {
		for _, one := range all(1) {
			if one.Name != name {
				continue
			}
			d := &reference{fault: fault, url: "http://api.test"}
			start := func(ctx context.Context, url string, out io.Writer) error {
				wait(ctx, after)
				return d.run(ctx, url, out)
			}
			r := play(t.Context(), one, 25*time.Second, start, func(server *hostile.Server) (string, func()) {
				d.http = &http.Client{Transport: server}
				return "", func() {}
			})
			violations = r.violations()
		}
		synctest.Wait()
	})
	require.NotNil(t, violations, "no trial has the name %s", name)
	return violations
}

// TestDetectsFaults maps each fault to a trial that detects it and to the violated property. The same client without
// the fault must pass the trial.
func TestDetectsFaults(t *testing.T) {
	passed := map[string]bool{}
	for fault, expected := range map[string][2]string{
		"exits when a connection breaks":             {"one-event-reset", "exit"},
		"prints logs between the lines":              {"listing", "format"},
		"prints resourceVersions as numbers":         {"listing", "format"},
		"prints unchanged objects as ADDED":          {"410-events", "sequence"},
		"prints MODIFIED for new objects":            {"listing", "sequence"},
		"deletes unknown objects":                    {"ghosts", "sequence"},
		"does not print deletions":                   {"listing", "lost"},
		"ignores deletions":                          {"listing", "lost"},
		"ignores modifications":                      {"listing", "lost"},
		"prints one UID for all objects":             {"outage-the-same-resourceversions", "lost"},
		"omits the namespace":                        {"listing", "lost"},
		"reads only the first page":                  {"listing", "resurrection"},
		"keeps objects that a list does not contain": {"skips", "lost"},
		"skips the first event of a watch":           {"one-event", "lost"},
		"watches without a resourceVersion":          {"one-event", "lost"},
		"lists again only after 410":                 {"outage-higher-resourceversions", "convergence"},
		"applies old events":                         {"replay", "resurrection"},
		"adds deleted objects again after a list":    {"410-events", "resurrection"},
		"takes a truncated list for an empty list":   {"torn", "resurrection"},
		"prints the old state after the new state":   {"listing", "order"},
		"lists only once":                            {"listing", "convergence"},
		"gives up after an error":                    {"one-event-reset", "convergence"},
		"waits for ten minutes after an error":       {"503-storm", "convergence"},
		"has no idle timeout":                        {"bookmark-then-silent", "convergence"},
		"never reports that it is stale":             {"outage-restarted", "staleness"},
		"reports the outage after it":                {"outage-restarted", "staleness"},
		"reconnects without a delay":                 {"instant", "requests"},
		"lists after each event":                     {"listing", "requests"},
		"polls ten times per second":                 {"listing", "requests"},
	} {
		t.Run(strings.ReplaceAll(fault, " ", "-"), func(t *testing.T) {
			trial, property := expected[0], expected[1]
			if !passed[trial] {
				require.Empty(t, inMemory(t, trial, "", 0), "%s without the fault", trial)
				passed[trial] = true
			}
			require.Contains(t, inMemory(t, trial, fault, 0), property)
		})
	}
}

// If a driver sends no request, the suite must say so. Otherwise, an incorrect driver would look like a slow client.
func TestReportsMissingRequests(t *testing.T) {
	require.Equal(t, "the client sent no request", inMemory(t, "listing", "", time.Hour)["convergence"])
}

// The messages say what the author of a driver has to change.
func TestExplainsViolations(t *testing.T) {
	for fault, says := range map[string]string{
		"prints logs between the lines":      `each line must be a JSON object, so write everything else to stderr: invalid character`,
		"prints resourceVersions as numbers": `resourceVersion must be a string, not a number`,
		"ignores deletions":                  `, for example "shop/cm-\d+", which does not exist`,
		"reconnects without a delay":         ` which is more than 100 in 10s`,
	} {
		trial := "listing"
		if fault == "reconnects without a delay" {
			trial = "instant"
		}
		require.Regexp(t, says, fmt.Sprint(inMemory(t, trial, fault, 0)))
	}
}

// A trial whose server has recovered before the client's first request shows nothing about the client.
func TestReportsLateRequests(t *testing.T) {
	require.Contains(t, inMemory(t, "listing", "", startWithin+time.Minute)["convergence"], "the trial tested nothing")
}

// Even a client that starts slowly must reach the server while the server misbehaves.
func TestWaitsForClient(t *testing.T) {
	require.Contains(t, inMemory(t, "instant", "reconnects without a delay", startWithin-time.Second), "requests")
}
