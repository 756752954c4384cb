package main

import (
	"errors"
	"fmt"
	"os"
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
	log       logOptions
	recording recordOptions
}

// outputOptions select the output format.
type outputOptions struct {
	format        output.Format
	name          string
	options       output.Options
	color         string
	terminal      bool // standard output is a terminal
	managedFields bool
	bookmarks     bool
	frames        bool
	redraw        bool
	screen        *output.Screen // for --redraw
	wide          bool           // print the server's own columns
}

var colors = []string{"auto", "always", "never"}

func (o *outputOptions) flags(set *pflag.FlagSet, terminal bool) {
	name := "jsonl"
	if terminal {
		name = "line"
	}
	set.StringVarP(&o.name, "output", "o", name, "`FORMAT`: "+strings.Join(output.Names(), ", ")+
		". Append -file to the name of a format to read its argument from a file")
	set.BoolVar(&o.options.Types, "output-watch-events", false, "with name, yaml, jsonpath and custom-columns: also print the type of each event; jsonpath then starts at the object that jsonl prints")
	set.BoolVar(&o.options.Old, "old", false, "with jsonl and wire: also print the previous object, in .old")
	set.BoolVar(&o.options.StatusOnly, "status-only", false, "with diff and jsonpatch: print only changes of .status")
	set.StringSliceVar(&o.options.Ignore, "ignore", nil, "with diff and jsonpatch: ignore changes at these `PATHS`, for example metadata.labels,status.conditions[*].message (default with diff: metadata.resourceVersion)")
	o.terminal = terminal
	set.StringVar(&o.color, "color", "auto", "`WHEN` to use colors: auto (on a terminal, unless NO_COLOR is set), always or never")
	set.BoolVar(&o.redraw, "redraw", false, "with line, wide and custom-columns, on a terminal: show the current objects in place and mark recent changes")
	set.BoolVar(&o.options.NoHeaders, "no-headers", false, "do not print headers")
	set.BoolVar(&o.bookmarks, "show-bookmarks", false, "with jsonl, wire and line: also print bookmarks")
	set.BoolVar(&o.frames, "show-frames", false, "with jsonl, wire and line: also print each watch event as received, before it is decoded")
	set.BoolVar(&o.managedFields, "show-managed-fields", false, "keep metadata.managedFields")
}

func (o *outputOptions) validate() (err error) {
	switch o.color {
	case "auto":
		o.options.Color = o.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	case "always", "never":
		o.options.Color = o.color == "always"
	default:
		return fmt.Errorf("--color must be auto, always or never, not %q", o.color)
	}
	o.wide = o.name == "wide"
	if o.format, err = output.New(o.name, &o.options); err != nil {
		return err
	}
	if o.redraw {
		states := o.options
		states.States = true
		format, err := output.New(o.name, &states)
		if err != nil {
			return err
		}
		if o.screen, err = output.NewScreen(format, &states); err != nil {
			return err
		}
	}
	if _, ok := o.format.(output.Marker); !ok && (o.bookmarks || o.frames) || o.redraw && (o.bookmarks || o.frames) {
		return errors.New("--show-bookmarks and --show-frames need -o jsonl, wire or line, without --redraw")
	}
	return nil
}

// section is a titled group of flags in the help.
type section struct {
	title string
	flags *pflag.FlagSet
}

func (c *config) sections(terminal bool) []section {
	make := func(title string, register func(*pflag.FlagSet)) section {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		register(set)
		return section{title, set}
	}
	return []section{
		make("Where", c.server.flags),
		make("What", c.resources.flags),
		make("How", func(set *pflag.FlagSet) { c.output.flags(set, terminal) }),
		make("When", c.limits.flags),
		make("Messages", c.log.flags),
		make("Recordings", c.recording.flags),
	}
}

var errHelp = errors.New("help")

// parse parses the command line. Flags may appear before, between and after the names.
func parse(args []string, terminal bool) (*config, error) {
	c := new(config)
	all := pflag.NewFlagSet("lwcat", pflag.ContinueOnError)
	all.Usage = func() {}
	help := all.BoolP("help", "h", false, "")
	for _, section := range c.sections(terminal) {
		all.AddFlagSet(section.flags)
	}
	if err := all.Parse(args); err != nil {
		return nil, err
	}
	if *help {
		return nil, errHelp
	}
	c.resources.names = all.Args()
	c.recording.limits = &c.limits
	c.output.options.Namespaces, c.output.options.Resources = c.resources.allNamespaces || len(c.resources.namespaces) > 1, len(split(c.resources.names)) > 1
	c.server.replaying, c.resources.replaying = c.recording.replay != "", c.recording.replay != ""
	for _, validate := range []func() error{c.server.validate, c.resources.validate, c.output.validate, c.limits.validate, c.recording.validate} {
		if err := validate(); err != nil {
			return nil, err
		}
	}
	if c.output.wide && c.resources.metadataOnly {
		return nil, errors.New("-o wide shows more than metadata: omit --metadata-only")
	}
	if c.output.wide && (c.recording.record != "" || c.recording.replay != "") {
		return nil, errors.New("-o wide prints the server's columns, which recordings do not contain: omit --record and --replay")
	}
	return c, nil
}
