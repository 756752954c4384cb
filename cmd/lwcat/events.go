package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// eventTypes are the values of --types.
var eventTypes = []string{"Normal", "Warning"}

// selectEvents adds the conditions of --for and --types to the field selector. The argument all may be nil if the
// command line contains only paths.
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
