package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionTimeout limits how long a shell waits for completions, because the user cannot type in the meantime.
const completionTimeout = 1500 * time.Millisecond

// registerCompletions registers completions for arguments and flag values. Flags that take a file keep cobra's
// default, which completes file names.
func (c *config) registerCompletions(root *cobra.Command) {
	root.ValidArgsFunction = completeLast(c.completeArgs)
	root.Flags().VisitAll(func(flag *pflag.Flag) {
		if kind, _ := pflag.UnquoteUsage(flag); strings.HasPrefix(kind, "FILE") {
			return
		}
		_ = root.RegisterFlagCompletionFunc(flag.Name, completeLast(func(ctx context.Context, args []string, word string) []cobra.Completion {
			if flag.Name == "until" || flag.Name == "where" { // their fields depend on the resource in the arguments
				return c.completeFields(ctx, args, word)
			}
			return c.flagValues(ctx, flag.Name)
		})) // cannot fail, because each flag is registered only once
	})
}

// completeLast returns a cobra function that completes the last element of a comma-separated list. The function reports
// no errors and gives up after completionTimeout.
func completeLast(values func(ctx context.Context, args []string, last string) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) (matching []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		comma := strings.LastIndexByte(word, ',') + 1
		before, last := word[:comma], word[comma:]
		for _, candidate := range values(ctx, args, last) {
			text, description, _ := strings.Cut(candidate, "\t")
			if isWord(text) && strings.HasPrefix(text, last) {
				matching = append(matching, cobra.CompletionWithDesc(before+text, output.Plain(description)))
			}
		}
		// After a format that needs an argument, such as jsonpath=, the shell must not add a space. The tab precedes an
		// empty description.
		if len(matching) == 1 && strings.HasSuffix(matching[0], "=\t") {
			return matching, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return matching, cobra.ShellCompDirectiveNoFileComp
	}
}

// isWord reports whether a shell reads a string as one literal word. This is true for almost all Kubernetes names. Others
// are not completed, so that a malicious server cannot inject shell syntax into the command line.
func isWord(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._:/=,@+%^", r)
	})
}

// flagValues returns all values of a flag, or nil if they are unknown.
func (c *config) flagValues(ctx context.Context, name string) []cobra.Completion {
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
	case "types":
		return eventTypes
	case "event":
		return []string{"ADDED", "MODIFIED", "DELETED"}
	case "namespace":
		return c.objectNames(ctx, lw.Resource{Version: "v1", Plural: "namespaces"})
	case "context", "cluster", "user":
		contexts, clusters, users, _ := kubeconfig.Names(&c.server.Options) // a completion cannot report an error
		return map[string][]string{"context": contexts, "cluster": clusters, "user": users}[name]
	}
	return nil
}

// completeArgs completes an argument. In kubectl's form, for example "get pods web-0", the arguments after the
// resource are object names.
func (c *config) completeArgs(ctx context.Context, args []string, word string) (found []cobra.Completion) {
	kind := ""
	if len(args) > 1 && slices.Contains(kubectlVerbs, args[0]) && !strings.Contains(args[1], "/") {
		kind = args[1] + "/"
	}
	for _, name := range c.completeNames(ctx, kind+word) {
		found = append(found, strings.TrimPrefix(name, kind))
	}
	return found
}

// completeFields completes a field in a condition, for the resource that the arguments name.
func (c *config) completeFields(ctx context.Context, args []string, word string) (found []cobra.Completion) {
	server, resources := c.find(ctx, args)
	parent := word[:strings.LastIndexByte(word, '.')+1]
	for _, resource := range resources {
		if fields, missing := server.schema(ctx, resource).at(strings.FieldsFunc(parent, func(r rune) bool { return r == '.' })); missing == "" {
			for _, name := range fields.names() {
				found = append(found, parent+name)
			}
		}
	}
	return compact(found)
}

// find returns the server and the resources for the arguments, which may start with a kubectl verb. It ignores errors,
// because a completion cannot report them.
func (c *config) find(ctx context.Context, args []string) (server *connection, resources []lw.Resource) {
	server, err := c.connect(io.Discard)
	if err != nil || len(args) == 0 {
		return server, nil
	}
	if c.resources.names = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return slices.Contains(kubectlVerbs, arg) }); c.resources.allNamespaces {
		// as in resourceOptions.validate, which completions do not call
		c.resources.namespaces = []string{""}
	}
	resources, _ = resolve(ctx, server.http, &c.resources, server.Namespace, func(string, ...any) {})
	return server, resources
}

// completeNames completes the name of a resource or, after a slash, the name of an object.
func (c *config) completeNames(ctx context.Context, word string) (found []cobra.Completion) {
	if kind, _, slash := strings.Cut(word, "/"); slash {
		_, resources := c.find(ctx, []string{kind})
		for _, resource := range resources {
			for _, name := range c.objectNames(ctx, resource) {
				found = append(found, kind+"/"+name)
			}
		}
		return compact(found)
	}
	server, err := c.connect(io.Discard)
	if err != nil {
		return nil
	}
	all, err := discovery.Ask(ctx, server.http)
	if err != nil {
		return nil
	}
	found = append(found, cobra.CompletionWithDesc(everything, "all resources"))
	for _, r := range all.Names() {
		version := strings.TrimPrefix(r.Group+"/"+r.Version, "/")
		found = append(found, cobra.CompletionWithDesc(r.Name, strings.Join(append([]string{r.Kind, version}, r.ShortNames...), ", ")))
	}
	return found
}

// objectNames returns the names of a collection's first 500 objects. More names would take too long, and would not fit
// on a screen.
func (c *config) objectNames(ctx context.Context, resource lw.Resource) (names []string) {
	server, err := c.connect(io.Discard)
	if err != nil {
		return nil
	}
	client, err := lw.NewClient(server.http, resource, lw.RawCodec{}, &lw.ClientOptions{MetadataOnly: true})
	if err != nil {
		return nil
	}
	for object, err := range client.List(ctx, lw.ListOptions{Limit: 500}).Objects {
		if err != nil {
			break
		}
		names = append(names, object.GetName())
	}
	return names
}
