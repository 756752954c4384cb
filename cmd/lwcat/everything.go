package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// everything is the argument that makes lwcat follow all types of the server.
const everything = "everything"

// everythingRejects contains the flags that cannot be combined with the resource "everything". "lwcat everything" uses a
// [catalog.Catalog], which drops managedFields. The other flags need one stream for each resource.
var everythingRejects = []string{"for", "types", "from", "resume", "record", "show-managed-fields"}

// validateEverything rejects flags that cannot be combined with "everything".
func (c *config) validateEverything(flags *pflag.FlagSet) error {
	if !slices.Contains(split(c.resources.names), everything) {
		return nil
	}
	if len(split(c.resources.names)) > 1 {
		return fmt.Errorf("%s already includes all resources: name no others", everything)
	}
	for _, name := range everythingRejects {
		if flags.Changed(name) {
			return fmt.Errorf("--%s does not apply to %s: name the resources", name, everything)
		}
	}
	c.output.options.Resources = true
	c.output.options.Namespaces = len(c.resources.named()) != 1
	return nil
}

// viewer prints the changes of all types for lwcat everything.
type viewer struct {
	*config
	*catalog.Catalog
	out    *printer
	logged map[catalog.Type]string // the last logged problem of each type, so that each problem is logged once; "" after recovery
}

// catEverything prints the changes of all types that the server has now or later.
func (s *connection) catEverything(ctx context.Context, c *config, p *printer) error {
	p.limiter = newLimiter(&c.limits, 1) // the catalog counts as one collection, whose list awaitSync completes
	v := &viewer{config: c, out: p, logged: map[catalog.Type]string{}}
	// The catalog does not warn, because logProblems reports the problems of its types.
	v.Catalog = catalog.New(s.transport, &catalog.Options{Follow: c.resources.settings, Warn: func(string, ...any) {}})
	ctx, cancel := context.WithCancelCause(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { _ = v.Run(ctx) }) // only returns the cause of ctx
	tasks.Go(func() { cancel(v.awaitSync(ctx)) })
	if !c.limits.once {
		tasks.Go(func() { cancel(v.printChanges(ctx)) })
	}
	tasks.Wait()
	return p.finish(context.Cause(ctx))
}

// settings returns the catalog's settings for a type, or nil if the catalog must skip the type. If the flags name
// namespaces, the catalog skips cluster-scoped types.
func (o *resourceOptions) settings(info catalog.TypeInfo) *catalog.Settings {
	settings := &catalog.Settings{LabelSelector: o.labels, FieldSelector: o.fields, MetadataOnly: o.metadataOnly}
	if settings.Namespaces = o.named(); settings.Namespaces != nil && !info.Namespaced {
		return nil
	}
	return settings
}

// named returns the namespaces that the flags name, or nil for all namespaces.
func (o *resourceOptions) named() []string {
	if o.allNamespaces {
		return nil
	}
	return o.namespaces
}

// printChanges prints changes until the run ends.
func (v *viewer) printChanges(ctx context.Context) error {
	for change := range v.Changes(ctx, nil) {
		if err := v.print(change, !change.Initial); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// print prints a change. It returns an error if this change ends the run.
func (v *viewer) print(change catalog.Change, flush bool) error {
	if change.Type == lw.Synced {
		return v.out.flush()
	}
	hidden := v.limits.watchOnly && change.Initial
	event := output.Event{Type: change.Type, Time: time.Now(), Resource: change.Resource.String(), Object: change.New, Old: change.Old}
	if change.Type == lw.Deleted {
		event.Object, event.Old = change.Old, nil
	}
	if !v.resources.selects(&event) {
		return nil
	}
	seen, last := v.out.limiter.take(event.Resource, []output.Event{event}, hidden)
	// --record and --resume need the stream and the event, but everythingRejects excludes these flags.
	err := v.out.print(nil, nil, seen, true, hidden, flush || last)
	if last && (err == nil || errors.Is(err, syscall.EPIPE)) { // the goal is reached, even if the reader of the output has exited
		return v.out.limiter.reason()
	}
	return err
}

// awaitSync waits until all types are listed, and logs each type that cannot be followed. With --once, it then prints
// all objects and returns. Otherwise, it keeps logging such types until the run ends.
func (v *viewer) awaitSync(ctx context.Context) error {
	err := v.WaitSynced(ctx)
	failure, failed := errors.AsType[*catalog.SyncError](err)
	// Without any type, there is nothing to follow. With --wait, the server may become reachable later.
	for pause := time.Second; failed && failure.Discovery != nil && len(v.Statuses()) == 0 && ctx.Err() == nil; pause = min(2*pause, maxRetryDelay) {
		if !v.resources.wait || !isAbsent(failure.Discovery) {
			return failure.Discovery
		}
		v.out.status.logf("%v; retrying in %v", failure.Discovery, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		err = v.WaitSynced(ctx)
		failure, failed = errors.AsType[*catalog.SyncError](err)
	}
	if err != nil && !failed || ctx.Err() != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if failed && failure.Discovery != nil {
		v.out.status.logf("%v", failure.Discovery)
	}
	statuses := v.Statuses()
	v.logProblems(statuses)
	v.out.status.answered.Store(true)
	if v.limits.once {
		return v.printSnapshot(failed)
	}
	if v.out.limiter.listed() {
		return v.out.limiter.reason()
	}
	if v.out.status.terminal && !v.limits.hasGoal() {
		v.out.status.logf("%d types, watching (^C stops; --once only lists)", len(statuses))
	}
	for range v.StatusChanges(ctx) { // log when types can no longer be followed, and when they can again
		select {
		case <-time.After(time.Second): // an outage affects many types at the same time, and most of them reconnect soon
			v.logProblems(v.Statuses())
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// printSnapshot prints all objects, sorted by type, and returns the reason why the run ends. If incomplete is true,
// some types could not be listed, so the run fails unless it reaches its goal.
func (v *viewer) printSnapshot(incomplete bool) error {
	snapshot := v.Snapshot()
	for info := range snapshot.Types() {
		objects, err := snapshot.List(info.Type, "", "")
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := v.print(catalog.Change{Resource: info.Type, Change: cache.Change[*lw.Object]{Type: lw.Added, New: object}}, false); err != nil {
				return err
			}
		}
	}
	switch err := v.out.flush(); {
	case err != nil:
		return err
	case v.out.limiter.listed():
		return v.out.limiter.reason()
	case v.limits.hasGoal():
		return errUnmet
	case incomplete:
		return errFailed
	}
	return errDone
}

// problem describes why a type's objects may be missing or stale. It returns "" if they are current.
func (v *viewer) problem(status catalog.Status) string {
	switch status.State {
	case catalog.Stale, catalog.Forbidden, catalog.Unavailable, catalog.Gone:
		return status.State.String()
	}
	if len(status.Denied) > 0 || len(status.Namespaces) > 0 && v.resources.named() == nil {
		return "visible only in " + strings.Join(status.Namespaces, ", ")
	}
	return ""
}

// logProblems logs the types whose problem has changed. Types with the same problem share a line, because an outage
// affects many types. The line contains the cause from the first of these types.
func (v *viewer) logProblems(statuses []catalog.Status) {
	names, causes := map[string][]string{}, map[string]error{}
	for _, status := range statuses {
		problem := v.problem(status)
		if problem == v.logged[status.Type] {
			continue
		}
		v.logged[status.Type] = problem
		names[problem] = append(names[problem], status.Type.String())
		causes[problem] = cmp.Or(causes[problem], status.Cause)
	}
	for _, problem := range slices.Sorted(maps.Keys(names)) {
		list := strings.Join(names[problem], ", ")
		if problem != "" && causes[problem] != nil {
			problem += fmt.Sprintf(" (%v)", causes[problem])
		}
		v.out.status.logf("%s: %s", list, cmp.Or(problem, "live again"))
	}
}
