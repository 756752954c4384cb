package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	served "github.com/seed-6d2a410a/listwatch/lw/discovery"
	"github.com/spf13/pflag"
)

// discoveryTimeout limits one attempt to resolve the resources, so that a server that never responds causes a retry or
// an error.
const discoveryTimeout = 30 * time.Second

// maxRetryDelay is the longest delay between two attempts to discover resources.
const maxRetryDelay = 30 * time.Second

// resolve returns the resources named on the command line. It retries after server errors and status 429. With
// --wait, it also retries while a resource does not exist or the server is unreachable.
func (s *connection) resolve(ctx context.Context, o *resourceOptions, status *status) ([]lw.Resource, error) {
	for pause := time.Second; ; pause = min(2*pause, maxRetryDelay) {
		asking, stop := context.WithTimeoutCause(ctx, discoveryTimeout, lw.ErrSilent)
		resources, err := resolve(asking, s.transport, o, s.Namespace, func(format string, args ...any) {
			if ctx.Err() == nil { // interrupted requests would cause misleading warnings
				status.logf(format, args...)
			}
		})
		stop()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		refusal, ok := errors.AsType[*lw.StatusError](err)
		// A busy server has responded, so it will probably recover.
		busy := ok && (refusal.Code >= http.StatusInternalServerError || refusal.Code == http.StatusTooManyRequests)
		if !busy && !(o.wait && isAbsent(err)) {
			return resources, err
		}
		wait := pause
		if busy {
			wait = max(pause, refusal.RetryAfter)
		}
		status.logf("%v; retrying in %v", err, wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// resolve returns the resources named on the command line, without duplicates. If some names are not paths, it requests
// discovery documents. It calls warn for up to maxWarnings groups that could not be discovered. namespace applies if no
// flag selects a namespace.
func resolve(ctx context.Context, transport lw.Transport, o *resourceOptions, namespace string, warn func(format string, args ...any)) (resources []lw.Resource, err error) {
	namespaces := o.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{namespace}
	}
	var all *discovery.Resources
	kind := "" // the last resource name, to which the following object names belong, as in kubectl get pod web-1
	for _, name := range split(o.names) {
		isPath := strings.HasPrefix(name, "/")
		if all == nil && (!isPath || o.about != "") {
			if all, err = discovery.Ask(ctx, transport); err != nil {
				return nil, err
			}
			for i, group := range slices.Sorted(maps.Keys(all.Missing)) {
				if i < maxWarnings {
					warn("some resources could not be discovered: %v", all.Missing[group])
				}
			}
		}
		var found []lw.Resource
		if isPath {
			found, err = o.fromPath(name)
		} else if found, err = collections(all, name, namespaces); isUnknown(err) && kind != "" && !strings.Contains(name, "/") && slices.Contains(o.names, name) {
			// "pod web-1" means pod/web-1, but "pod,web-1" does not, so the name must be a separate argument.
			found, err = collections(all, kind+"/"+name, namespaces)
			// The first argument has added all Pods, so they are removed again.
			resources = slices.DeleteFunc(resources, func(r lw.Resource) bool {
				return r.Name == "" && slices.ContainsFunc(found, func(f lw.Resource) bool { return shortName(f) == shortName(r) })
			})
		} else {
			kind, _, _ = strings.Cut(name, "/")
		}
		if err != nil {
			return nil, err
		}
		resources = append(resources, slices.DeleteFunc(found, func(r lw.Resource) bool { return slices.Contains(resources, r) })...)
	}
	return resources, o.selectEvents(all, resources)
}

// maxWarnings limits how many groups that could not be discovered are logged, because a broken server may have hundreds.
const maxWarnings = 20

func isUnknown(err error) bool {
	_, unknown := errors.AsType[*discovery.UnknownError](err)
	return unknown
}

// split splits the arguments at commas.
func split(args []string) []string { return compact(strings.Split(strings.Join(args, ","), ",")) }

// collections returns the resources for a name such as pods or pod/web-0, or for a category such as all. It returns one
// resource for each namespace if the type is namespaced.
func collections(all *discovery.Resources, name string, namespaces []string) (resources []lw.Resource, err error) {
	word, object, _ := strings.Cut(name, "/")
	types := all.Category(word)
	found, err := all.Find(word)
	if err == nil {
		types = []*served.TypeInfo{found}
	} else if types == nil || object != "" || !isUnknown(err) {
		return nil, err
	}
	for _, found := range types {
		resource := lw.Resource{Group: found.Group, Version: found.Version, Plural: found.Resource, Name: object}
		within := []string{""}
		if found.Namespaced {
			within = namespaces
		}
		resources = append(resources, inEach(within, resource)...)
	}
	return resources, nil
}

// resourceOptions selects the collections to follow.
type resourceOptions struct {
	names         []string // resources and paths
	namespaces    []string // namespaces from the flags; "" means all namespaces
	allNamespaces bool
	labels        string // label selector
	fields        string // field selector
	metadataOnly  bool
	about         string                 // value of --for (only for events)
	eventTypes    []string               // values of --types (only for events)
	wait          bool                   // wait for missing objects, resources and servers
	where         []string               // conditions that lwcat itself checks
	conditions    []*condition.Condition // parsed from where
}

func (o *resourceOptions) flags(set *pflag.FlagSet) {
	set.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "`NAME` of the namespace, or several names such as a,b; the default is the context's namespace, or \"default\"")
	set.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "follow objects in all namespaces")
	set.Bool("all", false, "for 'lwcat wait': wait for all objects, as without names and selectors")
	set.StringVarP(&o.labels, "selector", "l", "", "select only objects whose labels match `LABELS`, for example app=web,tier!=db")
	set.StringVar(&o.fields, "field-selector", "", "select only objects whose fields match `FIELDS`, for example spec.nodeName=n1")
	set.StringVar(&o.about, "for", "", "for events: show only events about this `OBJECT`, for example pod/web-0")
	set.StringSliceVar(&o.eventTypes, "types", nil, "for events: show only these `TYPES`: Normal, Warning or both")
	set.BoolVar(&o.wait, "wait", false, "wait for an object, a resource or a server that does not exist yet; with --once, a missing object is no error")
	set.StringArrayVar(&o.where, "where", nil, "follow only objects for which `CONDITION` holds, for example status.phase=Running; lwcat checks it after the selectors; see 'lwcat help until'")
	set.BoolVar(&o.metadataOnly, "metadata-only", false, "request only the metadata of objects")
}

func (o *resourceOptions) validate() error {
	for _, name := range split(o.names) {
		if strings.HasPrefix(name, "/") {
			if _, err := o.fromPath(name); err != nil {
				return err
			}
		} else if !objectName.MatchString(name) {
			return fmt.Errorf("%q does not name an object: expected a name such as pod/web-0, with the namespace in -n", name)
		}
	}
	if o.about != "" && (!strings.Contains(o.about, "/") || !objectName.MatchString(o.about)) {
		return fmt.Errorf("--for %q does not name an object: expected a name such as pod/web-0", o.about)
	}
	o.eventTypes = compact(o.eventTypes)
	for _, name := range o.eventTypes {
		if !slices.Contains(eventTypes, name) {
			return fmt.Errorf("--types: %q is not an event type; use Normal or Warning, or omit the flag to print both", name)
		}
	}
	for _, text := range o.where {
		parsed, err := condition.Parse(text)
		if err == nil && !parsed.Plain {
			err = fmt.Errorf("condition %q depends on several objects: use it with --until", text)
		}
		if err != nil {
			return fmt.Errorf("--where: %w (see 'lwcat help until')", err)
		}
		o.conditions = append(o.conditions, parsed)
	}
	o.namespaces = compact(o.namespaces)
	if o.allNamespaces {
		o.namespaces = []string{""}
	}
	return nil
}

// selects applies --where to an event and reports whether to print it. If the object begins or ceases to match, selects
// changes the event's type to Added or Deleted, as the server does for a selector.
func (o *resourceOptions) selects(e *output.Event) bool {
	matches := func(object *lw.Object) bool {
		return !slices.ContainsFunc(o.conditions, func(c *condition.Condition) bool { return !c.Matches(object) })
	}
	if e.Type != lw.Modified || e.Old == nil {
		return matches(e.Object)
	}
	now, before := matches(e.Object), matches(e.Old)
	if now && !before {
		e.Type, e.Old = lw.Added, nil
	} else if before && !now {
		e.Type, e.Old = lw.Deleted, nil
	}
	return now || before
}

// objectName matches the name of a collection or an object.
var objectName = regexp.MustCompile(`^[^/]+(/[^/]+)?$`)

// compact removes empty and duplicate names.
func compact(names []string) (kept []string) {
	for _, name := range names {
		if name != "" && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// apiPath matches the path of a collection, an object or a legacy watch. Its regexp groups are the API group, the
// version, the namespace, the collection and the object.
var apiPath = regexp.MustCompile(`^/(?:api|apis/([^/]+))/([^/]+)(?:/watch)?(?:/namespaces/([^/]+))?/([^/?]+)(?:/([^/?]+))?/?$`)

// fromPath returns the resources at a path, one for each namespace if the flags name some.
func (o *resourceOptions) fromPath(path string) (resources []lw.Resource, err error) {
	parts := apiPath.FindStringSubmatch(path)
	if parts == nil {
		return nil, fmt.Errorf("%s is not the path of a collection or an object: expected a path such as /api/v1/pods, with selectors in -l and --field-selector", path)
	}
	resource := lw.Resource{Group: parts[1], Version: parts[2], Namespace: parts[3], Plural: parts[4], Name: parts[5]}
	if parts[3] != "" && len(o.namespaces) > 0 && !o.allNamespaces && !slices.Contains(o.namespaces, parts[3]) {
		return nil, fmt.Errorf("--namespace does not name the namespace in %s: omit the flag", path)
	}
	if parts[3] != "" || len(o.namespaces) == 0 {
		return []lw.Resource{resource}, nil
	}
	return inEach(o.namespaces, resource), nil
}

// inEach returns the resource once for each namespace.
func inEach(namespaces []string, resource lw.Resource) (resources []lw.Resource) {
	for _, resource.Namespace = range namespaces {
		resources = append(resources, resource)
	}
	return resources
}

// eventTypes are the values of --types.
var eventTypes = []string{"Normal", "Warning"}

// selectEvents adds the terms for --for and --types to the field selector. Events exist in two API groups, which have
// different names for the field of the object: involvedObject and regarding. all may be nil without --for.
func (o *resourceOptions) selectEvents(all *discovery.Resources, resources []lw.Resource) error {
	if o.about == "" && len(o.eventTypes) == 0 {
		return nil
	}
	terms, prefix := compact([]string{o.fields}), "involvedObject."
	for _, r := range resources {
		if r.Plural != "events" {
			return usageError{fmt.Errorf("--for and --types apply only to events, not to %s", shortName(r))}
		}
		if r.Group != "" {
			prefix = "regarding."
		}
	}
	if o.about != "" {
		word, name, _ := strings.Cut(o.about, "/")
		about, err := all.Find(word)
		if err != nil {
			return fmt.Errorf("--for: %w", err)
		}
		terms = append(terms, prefix+"kind="+about.Kind, prefix+"name="+name)
	}
	if len(o.eventTypes) == 1 { // with both types, no term is needed
		terms = append(terms, "type="+o.eventTypes[0])
	}
	o.fields = strings.Join(terms, ",")
	return nil
}
