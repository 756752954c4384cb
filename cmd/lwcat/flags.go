package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/spf13/pflag"
)

// config contains the parsed command line.
type config struct {
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
	managedFields bool   // whether to keep metadata.managedFields
	diff          bool   // --diff, which replaces name
	color         string // auto, always or never
}

func (o *outputOptions) flags(set *pflag.FlagSet, terminal bool) {
	name := "jsonl"
	if terminal {
		name = "line"
	}
	set.StringVarP(&o.name, "output", "o", name, "`FORMAT`: "+strings.Join(output.Names(), ", "))
	set.BoolVar(&o.options.Types, "output-watch-events", false, "with -o json, name, yaml, jsonpath and custom-columns: also print the type of each event; jsonpath then applies to the object that jsonl prints")
	set.BoolVar(&o.options.Old, "old", false, "with -o jsonl and wire: also print the previous object as .old")
	set.StringSliceVar(&o.options.Ignore, "ignore", nil, "with -o diff: also ignore changes at these `PATHS`, for example metadata.labels,status.conditions[*].message")
	set.StringSliceVar(&o.options.Only, "only", nil, "with -o diff: show only changes at these `PATHS`, for example spec,status.phase")
	set.BoolVar(&o.diff, "diff", false, "the same as -o diff")
	set.StringVar(&o.color, "color", "auto", "use colors: auto, always or never")
	set.Lookup("color").NoOptDefVal = "always"
	set.BoolVar(&o.options.NoHeaders, "no-headers", false, "do not print headers")
	set.BoolVar(&o.managedFields, "show-managed-fields", false, "keep metadata.managedFields")
}

func (o *outputOptions) validate() (err error) {
	if o.diff {
		o.name = "diff"
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return fmt.Errorf("--color is %q: expected auto, always or never", o.color)
	}
	o.options.Color = o.color == "always" || o.color == "auto" && o.options.Terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	o.format, err = output.New(o.name, &o.options)
	return err
}

// flags returns lwcat's flags. The caller parses these flags, which sets the fields of c.
func (c *config) flags(terminal bool) *pflag.FlagSet {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
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
	c.output.options.Namespaces, c.output.options.Resources = c.resources.allNamespaces || len(c.resources.namespaces) > 1, len(split(c.resources.names)) > 1
	if err := c.recording.validate(flags); err != nil {
		return err
	}
	if c.recording.replay == "" { // a replay needs no resources
		if err := c.resources.validate(); err != nil {
			return err
		}
	}
	// By default, --until in a pipe prints only the result, so that a job that waits for a Secret does not write the
	// Secret to its log.
	c.limits.quiet = c.limits.verb != "" || len(c.limits.until) > 0 && !terminal && !flags.Changed("output") && c.limits.resume == "" && c.recording.record == ""
	for _, validate := range []func() error{c.server.validate, c.output.validate, c.limits.validate} {
		if err := validate(); err != nil {
			return err
		}
	}
	if err := c.validateEverything(flags); err != nil {
		return err
	}
	if c.output.name == "wide" && (c.resources.metadataOnly || c.recording.record != "" || c.recording.replay != "") {
		return errors.New("-o wide prints the server's columns, which metadata and recordings do not contain: omit --metadata-only, --record and --replay")
	}
	return nil
}
