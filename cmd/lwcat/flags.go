package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/spf13/pflag"
)

// config is what the command line says, by the questions that it answers.
type config struct {
	where where
	what  what
	how   how
	when  when
	tell  telling
	tape  tape
}

// how it is printed.
type how struct {
	format        output.Format
	name          string
	options       output.Options
	color         string
	terminal      bool // is what standard output is
	managedFields bool
	bookmarks     bool
	frames        bool
	redraw        bool
	screen        *output.Screen // of --redraw
	wide          bool           // the server's own columns are asked for
}

var colors = []string{"auto", "always", "never"}

func (h *how) flags(set *pflag.FlagSet, terminal bool) {
	name := "jsonl"
	if terminal {
		name = "line"
	}
	set.StringVarP(&h.name, "output", "o", name, "`FORMAT`: "+strings.Join(output.Names(), ", ")+
		". With -file behind its name, one that takes an argument takes it from a file")
	set.BoolVar(&h.options.Types, "output-watch-events", false, "with name, yaml, jsonpath and custom-columns: print the type of each event too; jsonpath begins at the object that jsonl prints")
	set.BoolVar(&h.options.Old, "old", false, "with jsonl and wire: print the object before, as .old")
	set.BoolVar(&h.options.StatusOnly, "status-only", false, "with diff and jsonpatch: of changes, print those of .status only")
	set.StringSliceVar(&h.options.Ignore, "ignore", nil, "with diff and jsonpatch: do not print changes of what is at these `PATHS`, as metadata.labels,status.conditions[*].message (diff: metadata.resourceVersion, unless some are named)")
	h.terminal = terminal
	set.StringVar(&h.color, "color", "auto", "color what is for people: auto (on a terminal, and without NO_COLOR), always or never (`WHEN`)")
	set.BoolVar(&h.redraw, "redraw", false, "with line, wide and custom-columns, on a terminal: show what there is, in place, with what has just changed marked")
	set.BoolVar(&h.options.NoHeaders, "no-headers", false, "print no line of headers")
	set.BoolVar(&h.bookmarks, "show-bookmarks", false, "with jsonl, wire and line: print bookmarks too")
	set.BoolVar(&h.frames, "show-frames", false, "with jsonl, wire and line: print also each frame of a watch as it came, before it is understood")
	set.BoolVar(&h.managedFields, "show-managed-fields", false, "do not leave out metadata.managedFields")
}

func (h *how) validate() (err error) {
	switch h.color {
	case "auto":
		h.options.Color = h.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	case "always", "never":
		h.options.Color = h.color == "always"
	default:
		return fmt.Errorf("--color is auto, always or never, and not %q", h.color)
	}
	h.wide = h.name == "wide"
	if h.format, err = output.New(h.name, &h.options); err != nil {
		return err
	}
	if h.redraw {
		states := h.options
		states.States = true
		format, err := output.New(h.name, &states)
		if err != nil {
			return err
		}
		if h.screen, err = output.NewScreen(format, &states); err != nil {
			return err
		}
	}
	if _, ok := h.format.(output.Marker); !ok && (h.bookmarks || h.frames) || h.redraw && (h.bookmarks || h.frames) {
		return errors.New("--show-bookmarks and --show-frames are for the outputs jsonl, wire and line, without --redraw")
	}
	return nil
}

// section is a group of flags, under a title of the help.
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
		make("Where", c.where.flags),
		make("What", c.what.flags),
		make("How", func(set *pflag.FlagSet) { c.how.flags(set, terminal) }),
		make("When", c.when.flags),
		make("Messages", c.tell.flags),
		make("Recordings", c.tape.flags),
	}
}

var errHelp = errors.New("help")

// parse reads the command line. Flags may stand before, between and behind the names.
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
	c.what.names = all.Args()
	c.tape.when = &c.when
	c.how.options.Namespaces, c.how.options.Resources = c.what.allNamespaces || len(c.what.namespaces) > 1, len(split(c.what.names)) > 1
	c.where.recorded, c.what.recorded = c.tape.replay != "", c.tape.replay != ""
	for _, validate := range []func() error{c.where.validate, c.what.validate, c.how.validate, c.when.validate, c.tape.validate} {
		if err := validate(); err != nil {
			return nil, err
		}
	}
	if c.how.wide && c.what.metadataOnly {
		return nil, errors.New("-o wide shows more than metadata: leave out --metadata-only")
	}
	if c.how.wide && (c.tape.record != "" || c.tape.replay != "") {
		return nil, errors.New("-o wide is what a server shows of objects, and a recording has the objects: leave one of them out")
	}
	return c, nil
}
