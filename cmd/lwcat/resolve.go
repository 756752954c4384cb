package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// discoveryTimeout limits one discovery attempt.
const discoveryTimeout = 90 * time.Second

// maxRetryDelay is the longest delay between two attempts.
const maxRetryDelay = 30 * time.Second

// resolve returns the resources that the command line names. It retries after server errors and status 429. With
// --wait, it also retries while a resource does not exist or the server is unreachable.
func (s *source) resolve(ctx context.Context, o *resourceOptions, status *status) ([]lw.Resource, error) {
	for pause := time.Second; ; pause = min(2*pause, maxRetryDelay) {
		asking, stop := context.WithTimeoutCause(ctx, discoveryTimeout, lw.ErrSilent)
		resources, err := resolve(asking, s.transport, o, s.namespace, func(format string, args ...any) {
			if ctx.Err() == nil { // interrupted requests cause misleading warnings
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

// resolve returns the resources that the command line names, without duplicates. It requests discovery documents unless
// all names are paths. It calls warn for groups that could not be discovered. namespace is used if no flag selects a
// namespace.
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
				for i, missing := range all.Missing {
					if i == maxWarnings {
						warn("… and %d more", len(all.Missing)-i)
						break
					}
					warn("some resources could not be discovered: %s", missing)
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

// maxWarnings limits the number of logged API groups that could not be discovered.
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
	resource := lw.Resource{Group: found.Group, Version: found.Version, Plural: found.Plural, Name: object}
	if !found.Namespaced {
		return []lw.Resource{resource}, nil
	}
	for _, namespace := range namespaces {
		resource.Namespace = namespace
		resources = append(resources, resource)
	}
	return resources, nil
}
