//go:build js

package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// collection is a collection that the host has opened. The host is the JavaScript code around the WASM module.
type collection struct {
	id      int32    // chosen by the host
	command lw.Value // the host's start command, which contains the options
	out     *outbox
	ctx     context.Context
	cancel  context.CancelCauseFunc
	wake    chan struct{} // see lw.Options.Wake
	url     string        // of the last request, without its query
	rows    *rowPool
	indexes []string    // field paths of the host's indexes; each record contains the object's values at these paths
	synced  bool        // the first list or the restored state is complete, so errors no longer stop the collection
	late    *time.Timer // warns if the response to a watch does not arrive; nil before the first watch
	turns   bool        // the watch shares connections with other watches; see package turns

	// Only the outbox uses these fields.
	batch   []byte // encoded records for the host
	records int    // number of records in batch
}

// run follows the collection until the host closes it, or until it fails permanently before the first list is complete.
func (c *collection) run(transport lw.Transport) {
	informer, err := c.informer(transport)
	if err != nil {
		c.sendStopped(err)
		return
	}
	ctx := lw.WithTrace(c.ctx, &lw.Trace{
		Open: func(req *lw.Request) {
			c.url = c.command.Get("endpoint.server").String() + req.Path
			if req.Watch {
				c.late = time.AfterFunc(lateAfter, c.warnLate)
			}
		},
		Opened: func(req *lw.Request, _ error) {
			if req.Watch {
				c.late.Stop()
			}
		},
		Page: func(meta lw.ListMeta) {
			c.send(page, strconv.FormatInt(meta.RemainingItemCount, 10), meta.Continue)
		},
		Switched: func(cause error) { c.send(switched, cause.Error()) },
	})
	quiet := c.command.Get("restored").Bool() // true until the restored objects are applied, because the host already has them
	for event, changes := range informer.Follow(ctx) {
		switch event.Type {
		case lw.ListStarted:
			c.send(reset)
		case lw.Bookmark:
			c.send(bookmark, event.ResourceVersion)
		case lw.WatchStarted:
			c.send(live, event.ResourceVersion)
			if c.turns {
				c.sendWaiting() // sent again, because the host clears the interruption when it receives a live record
			}
		case lw.Interrupted:
			c.turns = false
			c.sendInterruption(event.Interruption)
		}
		for i := range changes {
			if !quiet {
				c.sendChange(&changes[i], event.ResourceVersion)
			}
		}
		if event.Type == lw.Synced || event.Type == lw.Restored {
			version := event.ResourceVersion
			if event.Type == lw.Restored {
				version = "" // empty, because the server has not sent a list yet
			}
			c.send(synced, version)
			quiet, c.synced = false, true
		}
	}
}

func (c *collection) informer(transport lw.Transport) (*cache.Informer[*row], error) {
	c.indexes = c.stringFields("indexes")
	paths := c.stringFields("project")
	// The projection must also keep the indexed fields. lw.Project also validates the paths of these fields, even if
	// the host requests all fields.
	projection, err := lw.Project(append(paths, c.stringFields("needs")...)...)
	if err != nil {
		return nil, err
	}
	c.rows = new(rowPool)
	opts := &lw.ClientOptions{}
	if len(paths) > 0 {
		c.rows.fields = projection
		// The client drops managedFields by default, so a projection that names them must request them.
		for _, path := range paths {
			opts.KeepManagedFields = opts.KeepManagedFields || strings.HasPrefix(strings.TrimPrefix(path, "."), "metadata.managedFields")
		}
	}
	resource := lw.Resource{
		Group: c.stringField("group"), Version: c.stringField("version"), Plural: c.stringField("plural"),
		Namespace: c.stringField("namespace"), Name: c.stringField("name"), Raw: c.stringField("path"),
	}
	client, err := lw.NewClient(transport, resource, c.rows, opts)
	if err != nil {
		return nil, err
	}
	streaming := c.command.Get("streamingLists").Bool()
	mayReject := streaming
	informer := cache.NewInformer(client, &lw.Options{
		LabelSelector: c.stringField("labelSelector"), FieldSelector: c.stringField("fieldSelector"),
		NoStreamingList: !streaming,
		Wake:            c.wake,
		Warn:            c.warn,
		StopOn: func(cause error) bool {
			// Servers without streaming lists, for example Kubernetes 1.31 and 1.33, reject them with 422. The stream then
			// requests an ordinary list. A second such error has another cause, for example an invalid selector.
			if mayReject && errorCode(cause) == "invalid" {
				mayReject = false
				return false
			}
			return !c.synced && (isPermanent(cause) || errors.Is(cause, lw.ErrNotList)) // ErrNotList suggests a wrong path
		},
	})
	informer.LimitObjects(int(c.command.Get("maxObjects").Int()))
	if c.command.Get("restored").Bool() {
		return informer, c.restore(informer)
	}
	return informer, nil
}

// warn sends a warning of the stream to the host. The pages log it, because nobody reads the console of a shared worker.
func (c *collection) warn(msg string, args ...any) {
	cause, _ := args[1].(string)            // args starts with "cause" and its text
	if slices.Contains(args, any("stop")) { // a stopped collection does not retry, so its warning must not be omitted
		cause = ""
	}
	c.send(warning, forJS(jsx.LogText(msg, append(args, "url", c.url)...)), cause)
}

// lateAfter is longer than the time after which package fallback tries a WebSocket.
const lateAfter = 10 * time.Second

// warnLate warns about a watch without a response. Otherwise nobody would learn why a collection does not become live: the
// stream waits for 90 seconds, and then makes another attempt. A watch that waits for its turn has another warning.
func (c *collection) warnLate() {
	if !c.turns {
		c.send(warning, jsx.LogText("listwatch: no response to a watch for 10 s", "url", c.url)+": if a proxy keeps the response until the first event, "+
			"let it forward the headers at once, as in https://github.com/seed-6d2a410a/listwatch/blob/main/docs/browser.md", "late")
	}
}

func (c *collection) stringField(name string) string { return c.command.Get(name).String() }

func (c *collection) stringFields(name string) (all []string) {
	for element := range c.command.Get(name).Elements() {
		all = append(all, element.String())
	}
	return all
}

// restore requests the objects that the host saved, and restores them. The host sends the resourceVersion and five
// strings per object: the arguments of newRow. Each string is preceded by its length in 4 bytes.
func (c *collection) restore(informer *cache.Informer[*row]) error {
	text, err := jsx.Ask(c.ctx, "kept "+strconv.Itoa(int(c.id)))
	if err != nil {
		return err
	}
	field := func() []byte {
		if len(text) >= 4 {
			n, rest := int(text[0])|int(text[1])<<8|int(text[2])<<16|int(text[3])<<24, text[4:]
			if n <= len(rest) {
				text = rest[n:]
				return rest[:n]
			}
		}
		text, err = nil, io.ErrUnexpectedEOF
		return nil
	}
	version := string(field())
	var kept []*row
	for len(text) > 0 {
		kept = append(kept, newRow(field(), field(), field(), field(), field()))
	}
	if err != nil {
		return err
	}
	informer.RestoreObjects(version, kept)
	return nil
}

func (c *collection) send(kind byte, fields ...string) { c.out.add(c, kind, fields, nil) }

// flag encodes a boolean in a record: true as "1", and false as an empty string.
var flag = map[bool]string{true: "1"}

// sendChange sends an added, modified or deleted record to the host. version is the resourceVersion that the collection
// has reached, or "" during a list. records.js lists the fields.
func (c *collection) sendChange(change *cache.Change[*row], version string) {
	switch {
	case change.Type == lw.Deleted:
		c.send(deleted, lw.KeyOf(change.Old).String(), version, flag[change.FinalStateUnknown])
		return
	case change.New.text == nil:
		return // the host already has the object: the text of a row is removed when it is sent, and restored rows have none
	}
	kind := byte(added)
	if change.Type == lw.Modified {
		kind = modified
	}
	r := change.New
	text := c.rows.take(r)
	fields := []string{lw.KeyOf(r).String(), version, r.uid, r.version, r.sum}
	if len(c.indexes) > 0 {
		object, _ := lw.ParseValue(text) // text is the JSON of an object that the server sent
		for _, path := range c.indexes {
			fields = append(fields, object.Get(path).String())
		}
	}
	c.out.add(c, kind, fields, text) // text comes last, so that one call in records.js can decode all other fields
}

func (c *collection) sendInterruption(b *lw.Interruption) {
	kind := byte(interrupted)
	if b.Final {
		kind = stopped
	}
	fields := errorFields(b.Err)
	// The URL is often wrong if the status is 404 or the response does not come from an API server, so the message
	// contains it.
	if status, ok := errors.AsType[*lw.StatusError](b.Err); ok && (status.Reason == "" || status.Code == 404) {
		fields[1] += " (" + c.url + ")"
	}
	if b.Final && fields[0] == "malformed" { // a response that is not a list suggests a wrong path, not a broken response
		fields[0] = "invalid"
	}
	c.send(kind, append(fields, strconv.FormatInt(b.Delay.Milliseconds(), 10), flag[b.Relist])...)
}

// sendWaiting reports to the host that the watch shares connections with other watches. The watch continues, but its
// changes may arrive a few seconds late.
func (c *collection) sendWaiting() {
	c.turns = true
	c.send(interrupted, "turns", "watches take turns on two connections, because neither HTTP/2 nor WebSocket is available; "+
		"enable HTTP/2 on the server, or allow WebSockets in each proxy, for example with the option ws: true of Vite's proxy", "", "", "0", "")
}

// sendStopped reports to the host why the collection cannot start. No more records follow. It sends nothing if the host
// has already closed the collection.
func (c *collection) sendStopped(err error) {
	if c.ctx != nil && c.ctx.Err() != nil && errors.Is(err, errStopped) { // ctx is nil if the transport is invalid
		return
	}
	c.send(stopped, "invalid", forJS(err.Error()), "", "", "0", "")
}
