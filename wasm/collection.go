//go:build js

package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// collection is one that is followed.
type collection struct {
	id      int32
	command lw.Value
	out     *outbox
	ctx     context.Context
	cancel  context.CancelCauseFunc
	wake    chan struct{}
	rows    *rows
	indexes []string // the paths by which the host indexes
	synced  bool
	turns   bool // the current watch takes turns with others

	batch   []byte // the outbox's
	records int
}

// run follows the collection until it is stopped, or refused before it was ever complete.
func (c *collection) run(transport lw.Transport) {
	reflector, err := c.reflector(transport)
	if err != nil {
		c.refuse(err)
		return
	}
	ctx := lw.WithTrace(c.ctx, &lw.Trace{
		Page:     c.page,
		Bookmark: func(version string) { c.tell(bookmark, version) },
		Switched: func(cause error) { c.tell(switched, cause.Error()) },
	})
	quiet := c.command.Get("restored").Bool() // until the host was told what it has told us
	for event, changes := range reflector.Changes(ctx) {
		switch event.Type {
		case lw.ListStarted:
			c.tell(reset)
		case lw.WatchStarted:
			c.tell(live, event.ResourceVersion)
			if c.turns {
				c.waits() // the host takes live for the end of every cause
			}
		case lw.Interrupted:
			c.turns = false
			c.interruption(event.Interruption)
		}
		for i := range changes {
			if !quiet {
				c.change(&changes[i], event.ResourceVersion)
			}
		}
		if event.Type == lw.Synced {
			version := event.ResourceVersion
			if quiet {
				version = "" // nothing was heard from the server
			}
			c.tell(synced, version)
			quiet, c.synced = false, true
		}
	}
}

func (c *collection) reflector(transport lw.Transport) (*cache.Reflector[*row], error) {
	c.indexes = c.texts("indexes")
	paths := c.texts("project")
	// Also without a projection it is an error if an index's path can find nothing.
	projection, err := lw.Project(append(paths, c.texts("needs")...)...)
	if err != nil {
		return nil, err
	}
	c.rows = new(rows)
	opts := &lw.ClientOptions{}
	if len(paths) > 0 {
		c.rows.projection = projection.(textAppender)
		for _, path := range paths {
			opts.KeepManagedFields = opts.KeepManagedFields || strings.HasPrefix(strings.TrimPrefix(path, "."), "metadata.managedFields")
		}
	}
	resource := lw.Resource{
		Group: c.text("group"), Version: c.text("version"), Plural: c.text("plural"),
		Namespace: c.text("namespace"), Name: c.text("name"), Raw: c.text("path"),
	}
	client, err := lw.NewClient(transport, resource, c.rows, opts)
	if err != nil {
		return nil, err
	}
	reflector := cache.NewReflector(client, &lw.Options{
		LabelSelector: c.text("labelSelector"), FieldSelector: c.text("fieldSelector"),
		NoStreamingList: !c.command.Get("streamingLists").Bool(),
		MaxObjects:      int(c.command.Get("maxObjects").Int()),
		Wake:            c.wake,
		Logger:          silent{},
		StopOn:          func(cause error) bool { return !c.synced && (hopeless(cause) || errors.Is(cause, invalid.ErrNotList)) },
	})
	if c.command.Get("restored").Bool() {
		return reflector, c.restore(reflector)
	}
	return reflector, nil
}

// silent discards warnings, because the host receives all interruptions.
type silent struct{}

func (silent) Warn(string, ...any) {}

func (c *collection) text(name string) string { return c.command.Get(name).String() }

func (c *collection) texts(name string) (all []string) {
	for element := range c.command.Get(name).Elements() {
		all = append(all, element.String())
	}
	return all
}

// restore begins with what the host has kept: the version, and of each object five fields.
func (c *collection) restore(reflector *cache.Reflector[*row]) error {
	text, err := jsx.Ask(c.ctx, "kept "+strconv.Itoa(int(c.id)))
	if err != nil {
		return err
	}
	field := func() (part []byte) {
		if len(text) < 4 {
			err = io.ErrUnexpectedEOF
			return nil
		}
		n := int(text[0]) | int(text[1])<<8 | int(text[2])<<16 | int(text[3])<<24
		if text = text[4:]; n > len(text) {
			err = io.ErrUnexpectedEOF
			return nil
		}
		part, text = text[:n], text[n:]
		return part
	}
	version := string(field())
	var kept []*row
	for len(text) > 0 && err == nil {
		kept = append(kept, newRow(field(), field(), field(), field(), field()))
	}
	if err != nil {
		return err
	}
	reflector.RestoreObjects(version, kept)
	return nil
}

func (c *collection) tell(kind byte, fields ...string) {
	c.out.add(c, kind, len(fields), func(batch []byte) []byte {
		for _, field := range fields {
			batch = appendField(batch, field)
		}
		return batch
	})
}

// change records what happened to an object.
func (c *collection) change(change *cache.Change[*row], version string) {
	if change.Type == cache.Deleted {
		finalStateUnknown := ""
		if change.FinalStateUnknown {
			finalStateUnknown = "1"
		}
		c.tell(deleted, change.Old.key, version, finalStateUnknown)
		return
	}
	if change.New.text == nil {
		return // the host has this object already
	}
	kind := byte(added)
	if change.Type == cache.Modified {
		kind = modified
	}
	c.out.add(c, kind, 6+len(c.indexes), func(batch []byte) []byte {
		r := change.New
		text := c.rows.take(r)
		for _, field := range []string{r.key, version, r.uid, r.version, r.sum} {
			batch = appendField(batch, field)
		}
		if len(c.indexes) > 0 {
			object := lw.Value(text)
			for _, path := range c.indexes {
				batch = appendField(batch, object.Get(path).String())
			}
		}
		return appendField(batch, text) // last, because records.js reads all fields before it at once
	})
}

func (c *collection) page(meta lw.ListMeta) {
	c.tell(page, strconv.FormatInt(meta.RemainingItemCount, 10), meta.Continue)
}

func (c *collection) interruption(b *lw.Interruption) {
	kind := byte(interrupted)
	if b.Final {
		kind = stopped
	}
	again := ""
	if b.Relist {
		again = "1"
	}
	words := describe(b.Err)
	if b.Final && words[0] == "malformed" {
		words[0] = "invalid"
	}
	c.tell(kind, append(words, strconv.FormatInt(b.Delay.Milliseconds(), 10), again)...)
}

// waits reports that the watch takes turns with others. The watch is not interrupted: changes arrive some seconds late.
func (c *collection) waits() {
	c.turns = true
	c.tell(interrupted, []string{"turns", "watches take turns on two connections, because the server speaks HTTP/1.1, or hides its " +
		"protocol, and WebSocket cannot be used: serve it over HTTP/2, or allow WebSockets", "", "", "0", ""}...)
}

// refuse tells that nothing will come.
func (c *collection) refuse(err error) {
	if c.ctx != nil && c.ctx.Err() != nil && errors.Is(err, errStopped) {
		return
	}
	c.tell(stopped, append([]string{"invalid", err.Error(), "", ""}, "0", "")...)
}
