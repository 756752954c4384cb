package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// discoveryTimeout limits one discovery attempt.
const discoveryTimeout = 90 * time.Second

// maxRetryDelay is the longest delay between two attempts to discover resources.
const maxRetryDelay = 30 * time.Second

// resolve returns the resources named on the command line. It retries after server errors and status 429. With
// --wait, it also retries while a resource does not exist or the server is unreachable.
func (s *connection) resolve(ctx context.Context, o *resourceOptions, status *status) ([]lw.Resource, error) {
	for pause := time.Second; ; pause = min(2*pause, maxRetryDelay) {
		asking, stop := context.WithTimeoutCause(ctx, discoveryTimeout, lw.ErrSilent)
		resources, err := resolve(asking, s.transport, o, s.Namespace, func(format string, args ...any) {
			if ctx.Err() == nil { // requests that were interrupted would cause misleading warnings
				status.logf(format, args...)
			}
		})
		stop()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		refusal, ok := errors.AsType[*lw.StatusError](err)
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

// resolve returns the resources named on the command line, without duplicates. It requests discovery documents
// unless all names are paths. It calls warn for each group that could not be discovered. namespace applies if no
// flag selects a namespace.
func resolve(ctx context.Context, transport lw.Transport, o *resourceOptions, namespace string, warn func(format string, args ...any)) (resources []lw.Resource, err error) {
	namespaces := o.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{namespace}
	}
	var all *discovery.Resources
	for _, name := range split(o.names) {
		var found []lw.Resource
		if strings.HasPrefix(name, "/") {
			path, err := fromPath(name, o)
			if err != nil {
				return nil, err
			}
			found = append(found, path)
		} else {
			if all == nil {
				if all, err = discovery.Ask(ctx, transport); err != nil {
					return nil, err
				}
				for _, missing := range all.Missing[:min(len(all.Missing), maxWarnings)] {
					warn("some resources could not be discovered: %s", missing)
				}
				if more := len(all.Missing) - maxWarnings; more > 0 {
					warn("… and %d more", more)
				}
			}
			if found, err = collections(all, name, namespaces); err != nil {
				return nil, hintObjectName(err, name, resources)
			}
		}
		for _, resource := range found {
			if !slices.Contains(resources, resource) {
				resources = append(resources, resource)
			}
		}
	}
	return resources, o.selectEvents(ctx, transport, all, resources)
}

// maxWarnings limits how many undiscovered API groups are logged.
const maxWarnings = 20

// hintObjectName returns err. If the arguments look like kubectl's "pods web-0", it adds the syntax of object names.
func hintObjectName(err error, name string, before []lw.Resource) error {
	if _, unknown := errors.AsType[*discovery.UnknownError](err); !unknown || len(before) == 0 || strings.Contains(name, "/") {
		return err
	}
	return fmt.Errorf("%w (to name an object, write %s/%s)", err, before[len(before)-1].Plural, name)
}

// split splits the arguments at commas. It does not split paths, because their queries may contain commas.
func split(args []string) (names []string) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "/") {
			names = append(names, arg)
		} else {
			names = append(names, compact(strings.Split(arg, ","))...)
		}
	}
	return names
}

// collections returns the resources for a name such as pods or pod/web-0, one for each namespace.
func collections(all *discovery.Resources, name string, namespaces []string) (resources []lw.Resource, err error) {
	word, object, _ := strings.Cut(name, "/")
	found, err := all.Find(word)
	if err != nil {
		return nil, err
	}
	resource := lw.Resource{Group: found.Group, Version: found.Version, Plural: found.Resource, Name: object}
	if !found.Namespaced {
		return []lw.Resource{resource}, nil
	}
	for _, namespace := range namespaces {
		resource.Namespace = namespace
		resources = append(resources, resource)
	}
	return resources, nil
}

// resourceOptions selects the collections to follow.
type resourceOptions struct {
	names         []string // resources and paths
	namespaces    []string // namespaces from the flags; "" means all namespaces
	allNamespaces bool
	labels        string
	fields        string
	metadataOnly  bool
	about         string   // value of --for (only for events)
	eventTypes    []string // values of --types (only for events)
	wait          bool
	keepGoing     bool
}

func (o *resourceOptions) flags(set *pflag.FlagSet) {
	set.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "`NAME` of the namespace, or several names such as a,b; the default is the context's namespace, or \"default\"")
	set.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "follow objects in all namespaces")
	set.StringVarP(&o.labels, "selector", "l", "", "select only objects whose labels match `LABELS`, for example app=web,tier!=db")
	set.StringVar(&o.fields, "field-selector", "", "select only objects whose fields match `FIELDS`, for example spec.nodeName=n1")
	set.StringVar(&o.about, "for", "", "for events: show only events about this `OBJECT`, for example pod/web-0")
	set.StringSliceVar(&o.eventTypes, "types", nil, "for events: show only these `TYPES`: Normal, Warning or both")
	set.BoolVar(&o.wait, "wait", false, "wait for a resource or a server that does not exist yet")
	set.BoolVar(&o.keepGoing, "keep-going", false, "if the server rejects one resource, follow the others; the exit code is then 1")
	set.BoolVar(&o.metadataOnly, "metadata-only", false, "request only the metadata of objects")
}

func (o *resourceOptions) validate() error {
	names := split(o.names)
	if len(names) == 0 {
		return errors.New("no resource given: specify one, for example pods")
	}
	for _, name := range names {
		if err := o.validateName(name); err != nil {
			return err
		}
	}
	if kind, object, _ := strings.Cut(o.about, "/"); o.about != "" && (kind == "" || object == "" || strings.Contains(object, "/")) {
		return fmt.Errorf("--for %q does not name an object: expected a name such as pod/web-0", o.about)
	}
	o.eventTypes = compact(o.eventTypes)
	for _, name := range o.eventTypes {
		if !slices.Contains(eventTypes, name) {
			return fmt.Errorf("--types: %q is not an event type; use Normal or Warning, or omit the flag to print both", name)
		}
	}
	o.namespaces = compact(o.namespaces)
	if len(o.namespaces) > 0 && len(names) > 0 && !slices.ContainsFunc(names, o.usesNamespace) {
		return errors.New("--namespace does not apply to paths: include the namespace in the path, for example /api/v1/namespaces/shop/pods")
	}
	if o.allNamespaces {
		o.namespaces = []string{""}
	}
	return nil
}

// validateName rejects a malformed name before lwcat sends a request.
func (o *resourceOptions) validateName(name string) error {
	if strings.HasPrefix(name, "/") {
		_, err := fromPath(name, o)
		return err
	}
	word, object, slash := strings.Cut(name, "/")
	if word == "" || slash && (object == "" || strings.Contains(object, "/")) {
		return fmt.Errorf("%q does not name an object: expected a name such as pod/web-0, with the namespace in -n", name)
	}
	return nil
}

// usesNamespace reports whether -n applies to a name. It applies to a path only if the path contains one of the
// namespaces given with -n.
func (o *resourceOptions) usesNamespace(name string) bool {
	return !strings.HasPrefix(name, "/") || slices.ContainsFunc(o.namespaces, func(namespace string) bool {
		return strings.Contains(name, "/namespaces/"+namespace+"/")
	})
}

// compact removes empty and duplicate names.
func compact(names []string) (kept []string) {
	for _, name := range names {
		if name != "" && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// engineParameters are the query parameters that package lw sets itself. They are removed from paths, because users
// copy paths from logs.
var engineParameters = []string{
	"watch", "resourceVersion", "resourceVersionMatch", "timeout", "timeoutSeconds", "allowWatchBookmarks", "sendInitialEvents",
	"limit", "continue",
}

// fromPath returns the resource at a path. It also accepts the path of a single object, and legacy watch paths such
// as /api/v1/watch/pods.
func fromPath(raw string, o *resourceOptions) (resource lw.Resource, err error) {
	path, query, _ := strings.Cut(raw, "?")
	resource.Raw, resource.Name, err = splitPath(strings.TrimSuffix(path, "/"))
	values, queryErr := url.ParseQuery(query)
	switch {
	case cmp.Or(err, queryErr) != nil:
		return resource, fmt.Errorf("%s: %w", raw, cmp.Or(err, queryErr))
	case resource.Raw == "":
		return resource, fmt.Errorf("%s is not the path of a collection: expected a path such as /api/v1/pods", raw)
	case values.Has("labelSelector") && o.labels != "", values.Has("fieldSelector") && (o.fields != "" || resource.Name != ""):
		return resource, fmt.Errorf("%s already contains a selector: omit the flag, because servers accept only one selector", raw)
	}
	for _, name := range engineParameters {
		values.Del(name)
	}
	query = values.Encode()
	if query != "" {
		resource.Raw += "?" + query
	}
	return resource, nil
}

var (
	// apiPath matches the path of a collection or an object. Its groups are the API version, the collection and the
	// object.
	apiPath = regexp.MustCompile(`^(/api/[^/]*|/apis/[^/]*/[^/]*)(?:/watch)?((?:/namespaces/[^/]*)?/[^/]*)(?:/([^/]*))?$`)
	// belowVersion matches all paths below an API version.
	belowVersion = regexp.MustCompile(`^/(api|apis/[^/]*)/[^/]*/`)
)

// splitPath splits an API path into the collection's path and the name of an object. It returns other paths
// unchanged.
func splitPath(path string) (collection, object string, err error) {
	parts := apiPath.FindStringSubmatch(path)
	switch {
	case parts != nil:
		object, err = url.PathUnescape(parts[3])
		return parts[1] + parts[2], object, err
	case belowVersion.MatchString(path):
		return "", "", errors.New("expected the path of a collection or an object")
	}
	return path, "", nil
}

// eventTypes are the values of --types.
var eventTypes = []string{"Normal", "Warning"}

// selectEvents adds field selector terms for --for and --types. all may be nil if the command line contains only
// paths.
func (o *resourceOptions) selectEvents(ctx context.Context, transport lw.Transport, all *discovery.Resources, resources []lw.Resource) (err error) {
	if o.about == "" && len(o.eventTypes) == 0 {
		return nil
	}
	terms, prefix := compact([]string{o.fields}), "involvedObject."
	for _, r := range resources {
		path, _, _ := strings.Cut(r.Raw, "?")
		if r.Plural != "events" && !strings.HasSuffix(path, "/events") {
			return usageError{fmt.Errorf("--for and --types apply only to events, not to %s", shortName(r))}
		}
		if r.Group != "" || strings.HasPrefix(path, "/apis/") {
			prefix = "regarding."
		}
	}
	if o.about != "" {
		if all == nil {
			if all, err = discovery.Ask(ctx, transport); err != nil {
				return err
			}
		}
		word, name, _ := strings.Cut(o.about, "/")
		about, err := all.Find(word)
		if err != nil {
			return fmt.Errorf("--for: %w", err)
		}
		terms = append(terms, prefix+"kind="+about.Kind, prefix+"name="+name)
	}
	if len(o.eventTypes) == 1 { // with both types, no condition is needed
		terms = append(terms, "type="+o.eventTypes[0])
	}
	o.fields = strings.Join(terms, ",")
	return nil
}
