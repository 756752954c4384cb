//go:build js

// Command wasm is the WASM module for web pages, workers and Node.js. The JavaScript host, engine.js, sends it
// commands. The module follows the collections that the host opens, and sends changes to the host as records. The host
// stores the objects. The module stores only their names, UIDs, resourceVersions and checksums.
package main

import (
	"context"
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/lw"
)

func main() {
	m := &module{running: map[int32]*collection{}, servers: map[string]*server{}, outbox: newOutbox()}
	ctx := context.Background()
	go m.outbox.send()
	for {
		text, err := jsx.Ask(ctx, "command")
		if err != nil {
			return // the host is shutting down
		}
		command, err := lw.ParseValue(text)
		if err == nil { // always true, because the host sends the output of JSON.stringify
			m.handle(ctx, command)
		}
	}
}

// module contains the open collections and the servers that they use. Its maps need no lock, because only the goroutine of
// main uses them.
type module struct {
	running map[int32]*collection // by ID; includes failed collections that the host has not stopped yet
	servers map[string]*server    // servers by URL and credentials
	outbox  *outbox
}

// handle executes a command that engine.js has sent.
func (m *module) handle(ctx context.Context, command lw.Value) {
	id := int32(command.Get("id").Int())
	switch command.Get("do").String() {
	case "start":
		c := &collection{id: id, command: command, out: m.outbox, wake: make(chan struct{}, 1)}
		transport, err := m.transport(command.Get("endpoint"), c.sendWaiting)
		if err != nil {
			c.sendStopped(err)
			return
		}
		c.ctx, c.cancel = context.WithCancelCause(ctx)
		m.running[id] = c
		go c.run(transport)
	case "stop":
		if c := m.running[id]; c != nil {
			c.cancel(errStopped)
			delete(m.running, id)
		}
	case "wake":
		for _, c := range m.running {
			select {
			case c.wake <- struct{}{}:
			default: // a wake-up is already pending
			}
		}
	}
}

// errStopped is the cause of a collection's context after the host has closed the collection.
var errStopped = errors.New("the collection was closed")
