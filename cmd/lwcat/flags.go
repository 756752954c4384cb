package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/spf13/pflag"
)

// config contains the parsed command line.
type config struct {
	args      []string // the command line
	server    serverOptions
	resources resourceOptions
	output    outputOptions
	limits    rangeOptions
	verbosity int // number of -v flags; all positive values mean the same
	recording recordOptions
}

// outputOptions select the output format.
type outputOptions struct {
	format        output.Format // created by validate
	name          string        // value of -o
	options       output.Options
	managedFields bool           // whether to keep metadata.managedFields
	kubectl       bool           // whether the command line has kubectl's verb get, list or watch, which print like kubectl
	sortBy        string         // value of --sort-by
	sortPath      *jsonpath.Path // parsed from sortBy; nil without it
	color         string         // auto, always or never
}

func (o *outputOptions) flags(set *pflag.FlagSet, terminal bool) {
	name := "jsonl"
	if terminal {
		name = "line"
	}
	set.StringVarP(&o.name, "output", "o", name, "`FORMAT`: "+strings.Join(output.Names(), ", "))
	set.BoolVar(&o.options.Types, "output-watch-events", false, "with -o json, name, yaml, jsonpath and custom-columns: also print the type of each event; jsonpath then applies to the object that jsonl prints")
	set.BoolVar(&o.options.Old, "old", false, "with -o jsonl: also print the previous object as .old")
	set.StringSliceVar(&o.options.Ignore, "ignore", nil, "with -o diff: also ignore changes at these `PATHS`, for example metadata.labels,status.conditions[*].message")
	set.StringSliceVar(&o.options.Only, "only", nil, "with -o diff: show only changes at these `PATHS`, for example spec,status.phase")
	set.BoolFunc("diff", "the same as -o diff", func(string) error { o.name = "diff"; return nil })
	set.StringVar(&o.color, "color", "auto", "use colors: auto, always or never")
	set.Lookup("color").NoOptDefVal = "always" // the meaning of --color without a value
	set.BoolVar(&o.options.Labels, "show-labels", false, "with -o table and wide: also print a column with all labels")
	set.StringSliceVarP(&o.options.LabelColumns, "label-columns", "L", nil, "with -o table and wide: also print columns with these `LABELS`, for example app,tier")
	set.StringVar(&o.sortBy, "sort-by", "", "with --once: sort the objects by the field at this `PATH`, for example metadata.creationTimestamp")
	set.BoolVar(&o.options.NoHeaders, "no-headers", false, "do not print headers")
	set.BoolVar(&o.managedFields, "show-managed-fields", false, "keep metadata.managedFields")
}

func (o *outputOptions) validate() (err error) {
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return fmt.Errorf("--color is %q: expected auto, always or never", o.color)
	}
	o.options.Color = o.color == "always" || o.color == "auto" && o.options.Terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if o.sortBy != "" {
		if o.sortPath, err = jsonpath.ParsePath(o.sortBy); err != nil {
			return fmt.Errorf("--sort-by: %w", err)
		}
	}
	o.format, err = output.New(o.name, &o.options)
	return err
}

// columns reports whether the output shows the server's columns.
func (o *outputOptions) columns() bool { return o.name == "table" || o.name == "wide" }

// sort sorts the events of lists by the order of the collections. With --sort-by, it sorts the objects of each resource by
// the field, even across namespaces, and keeps the order of the resources. Objects without the field come first, as in
// kubectl.
func (o *outputOptions) sort(events []output.Event) {
	first := map[string]int{} // the order of the first collection of each resource
	for i := range events {
		e := &events[i]
		if order, ok := first[e.Resource]; !ok || e.Order < order {
			first[e.Resource] = e.Order
		}
	}
	slices.SortStableFunc(events, func(a, b output.Event) int {
		order := cmp.Compare(a.Order, b.Order)
		if o.sortPath == nil {
			return order
		}
		return cmp.Or(cmp.Compare(first[a.Resource], first[b.Resource]),
			jsonpath.Compare(o.sortPath.First(a.Object.Get("")).String(), o.sortPath.First(b.Object.Get("")).String()), order)
	})
}

// choose selects what kubectl would print: a table for "lwcat get" and the flags for labels, unless -o is given, and
// one List instead of several objects for "lwcat get -o json".
func (c *config) choose(flags *pflag.FlagSet) {
	names, labels := split(c.resources.names), c.output.options.Labels || c.output.options.LabelColumns != nil
	objectsOnly := c.resources.metadataOnly || c.recording.record != "" || c.recording.replay != ""
	if (c.output.kubectl && !objectsOnly || labels) && !flags.Changed("output") && !flags.Changed("diff") {
		c.output.name = "table"
	}
	single := len(names) == 1 && strings.Contains(names[0], "/") // kubectl prints one named object without a List
	// A template such as {.items[*].metadata.name} expects a List. Other templates apply to one object at a time.
	items := c.output.name == "json" || c.output.name == "yaml" || strings.HasPrefix(c.output.name, "jsonpath=") && strings.Contains(c.output.name, ".items")
	c.output.options.Once = c.limits.once && c.limits.resume == "" // with --resume, a list may also show deletions
	c.output.options.List = c.output.kubectl && c.output.options.Once && items && !c.output.options.Types && !single
	c.output.options.Wide = c.output.name == "wide"
}

// flags returns lwcat's flags. The caller parses these flags, which sets the fields of c.
func (c *config) flags(terminal bool) *pflag.FlagSet {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false // the help lists the flags by topic
	c.server.flags(set)
	c.resources.flags(set)
	c.output.flags(set, terminal)
	c.limits.flags(set)
	set.CountVarP(&c.verbosity, "verbose", "v", "log every request")
	c.recording.flags(set)
	return set
}

func (c *config) validate(flags *pflag.FlagSet, names []string, terminal bool) error {
	c.resources.names, c.output.options.Terminal = names, terminal
	c.output.options.Namespaces = c.resources.allNamespaces || len(c.resources.namespaces) > 1
	if err := c.recording.validate(flags); err != nil {
		return err
	}
	if c.recording.replay == "" && len(split(names)) == 0 { // a replay needs no resources
		return errors.New("no resource given: specify one, for example pods")
	}
	if err := c.resources.validate(); err != nil {
		return err
	}
	// By default, --until in a pipe prints only the result, so that a job that waits for a Secret does not write the
	// Secret to its log.
	c.limits.quiet = c.limits.verb != "" || len(c.limits.until) > 0 && !terminal && !flags.Changed("output") && c.limits.resume == "" && c.recording.record == ""
	c.choose(flags) // before c.output.validate, which creates the chosen format
	if err := cmp.Or(c.server.validate(), c.output.validate(), c.limits.validate(), c.validateEverything(flags)); err != nil {
		return err
	}
	c.limits.omits = c.output.options.Omits
	if len(names) > 0 && names[0] == "api-resources" && (len(names) > 1 || flags.Changed("output") || flags.Changed("no-headers")) {
		return errors.New("api-resources prints one table: omit the arguments and formats, or use kubectl api-resources")
	}
	if c.output.sortBy != "" && !c.output.options.Once {
		return errors.New("--sort-by sorts a list, not the changes after it: add --once, and omit --resume")
	}
	if c.output.columns() && (c.resources.metadataOnly || c.recording.record != "" || c.recording.replay != "") {
		return fmt.Errorf("-o %s prints the server's columns, which metadata and recordings do not contain: omit --metadata-only, --record and --replay", c.output.name)
	}
	return nil
}
