package main

import (
	"io"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// value completes a flag's value. It prepends before to each candidate.
func (c *completer) value(flag *pflag.Flag, before, current string) []candidate {
	if kind, _ := pflag.UnquoteUsage(flag); strings.HasPrefix(kind, "FILE") {
		return files
	}
	if flag.Name == "namespace" { // completes the last namespace of a list
		comma := strings.LastIndexByte(current, ',') + 1
		before, current = before+current[:comma], current[comma:]
	}
	return addPrefix(before, withPrefix(candidates(c.values(flag.Name)), current))
}

// values returns all values of a flag, or nil if they are unknown.
func (c *completer) values(name string) []string {
	switch name {
	case "output":
		names := output.Names()
		for i, name := range names {
			if format, _, takes := strings.Cut(name, "="); takes {
				names[i] = format + "="
			}
		}
		return names
	case "transport":
		return transports
	case "color":
		return colors
	case "namespace":
		return c.objectNames(lw.Resource{Version: "v1", Plural: "namespaces"})
	}
	known, err := kubeflags.List(&c.config.server.Options)
	if err != nil {
		return nil
	}
	return map[string][]string{"context": known.Contexts, "cluster": known.Clusters, "user": known.Users}[name]
}

// resources completes the last name in a comma-separated list of resources or objects.
func (c *completer) resources(current string) []candidate {
	if strings.HasPrefix(current, "/") {
		return nil
	}
	comma := strings.LastIndexByte(current, ',') + 1
	before, current := current[:comma], current[comma:]
	transport, namespace := c.connect()
	if transport == nil {
		return nil
	}
	all, err := discovery.Ask(c.ctx, transport)
	if err != nil {
		return nil
	}
	if word, object, slash := strings.Cut(current, "/"); slash {
		if c.config.resources.namespaces == nil {
			c.config.resources.namespaces = []string{namespace}
		}
		found, err := collections(all, word, c.config.resources.namespaces)
		if err != nil {
			return nil
		}
		var names []string
		for _, resource := range found {
			names = append(names, c.objectNames(resource)...)
		}
		return addPrefix(before+word+"/", withPrefix(candidates(compact(names)), object))
	}
	return addPrefix(before, matchingResources(all, current))
}

// matchingResources returns the resources whose names start with a word. If there are none, it expands a short name.
func matchingResources(all *discovery.Resources, word string) (found []candidate) {
	for _, r := range all.Names() {
		version := strings.TrimPrefix(r.Group+"/"+r.Version, "/")
		found = append(found, candidate{r.Name, strings.Join(append([]string{r.Kind, version}, r.ShortNames...), ", ")})
	}
	short, err := all.Find(word)
	found = withPrefix(found, word)
	if len(found) == 0 && err == nil {
		i := slices.IndexFunc(all.Names(), func(n discovery.Named) bool { return n.Resource == short })
		if i >= 0 {
			found = candidates([]string{all.Names()[i].Name})
		}
	}
	return found
}

// connect returns the transport and the namespace that the flags select, or nil if they cannot be loaded.
func (c *completer) connect() (transport lw.Transport, namespace string) {
	config, err := c.config.server.load(c.ctx, io.Discard)
	if err != nil {
		return nil, ""
	}
	transport, err = config.Transport()
	if err != nil {
		return nil, ""
	}
	return transport, config.Namespace
}

// objectNames returns the names of a collection's first 500 objects.
func (c *completer) objectNames(resource lw.Resource) (names []string) {
	transport, _ := c.connect()
	if transport == nil {
		return nil
	}
	client, err := lw.NewClient(transport, resource, lw.RawCodec{}, &lw.ClientOptions{MetadataOnly: true})
	if err != nil {
		return nil
	}
	for object, err := range client.List(c.ctx, lw.ListOptions{Limit: 500}, &lw.ListMeta{}) {
		if err != nil {
			break
		}
		names = append(names, object.GetName())
	}
	return names
}

// addPrefix prepends a string to all candidates.
func addPrefix(before string, all []candidate) []candidate {
	for i := range all {
		all[i].text = before + all[i].text
	}
	return all
}
