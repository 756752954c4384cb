//go:build js

// Command wasm is the program that a page, a worker or Node runs: it follows collections as its host commands, and tells
// the host what happens to them as records. It keeps of an object its name and versions only; the objects live with the
// host. The host is engine.js.
package main

import (
	"context"
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/internal/turns"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	"github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
)

func main() {
	p := &program{running: map[int32]*collection{}, servers: map[string]*server{}}
	ctx := context.Background()
	go p.outbox.send()
	for {
		text, err := jsx.Ask(ctx, "command")
		if err != nil {
			return // the host is going away
		}
		command, err := lw.ParseValue(text)
		if err == nil {
			p.do(ctx, command)
		}
	}
}

// program is what runs.
type program struct {
	running map[int32]*collection
	servers map[string]*server // by URL and credentials
	outbox  outbox
}

// do carries out one of the host's commands, of which engine.js has the forms.
func (p *program) do(ctx context.Context, command lw.Value) {
	id := int32(command.Get("id").Int())
	switch command.Get("do").String() {
	case "start":
		c := &collection{id: id, command: command, out: &p.outbox, wake: make(chan struct{}, 1)}
		transport, err := p.transport(command.Get("endpoint"), c.waits)
		if err != nil {
			c.refuse(err)
			return
		}
		c.ctx, c.cancel = context.WithCancelCause(ctx)
		p.running[id] = c
		go c.run(transport)
	case "stop":
		if c := p.running[id]; c != nil {
			c.cancel(errStopped)
			delete(p.running, id)
		}
	case "wake":
		for _, c := range p.running {
			select {
			case c.wake <- struct{}{}:
			default: // it has not looked since the last time
			}
		}
	}
}

var errStopped = errors.New("the collection was closed")

// server is what the streams to one server have learned about it.
type server struct {
	verdict *fallback.Transport
	sockets *turns.Support
}

// transport returns the transport that an endpoint of a command describes. waits is called when a watch begins to take turns
// on the connections.
func (p *program) transport(description lw.Value, waits func()) (lw.Transport, error) {
	url, headers := description.Get("server").String(), header(description.Get("headers"))
	over, err := http.New(url, &http.Options{
		TokenFunc:   token(description.Get("token").String()),
		Header:      headers,
		Credentials: description.Get("credentials").String(),
	})
	if err != nil {
		return nil, err
	}
	bounded := &turns.Transport{HTTP: over, Take: slotOf(url), Waits: waits}
	switch kind := description.Get("transport").String(); kind {
	case "http":
		return bounded, nil
	case "ws":
		return ws.New(over, nil), nil
	case "auto":
		if len(headers) > 0 {
			return bounded, nil // a WebSocket would go without them, as another user if one is impersonated
		}
		at := string(description.Get("server")) + string(description.Get("credentials"))
		known := p.servers[at]
		if known == nil {
			known = &server{fallback.New(over, over), turns.NewSupport()}
			p.servers[at] = known
		}
		free := &turns.Transport{HTTP: over, Take: bounded.Take}
		bounded.First = known.verdict.With(free, &turns.Sockets{WebSocket: ws.New(over, nil), Support: known.sockets})
		return bounded, nil
	default:
		return nil, errors.New("there is no transport " + kind)
	}
}

// slotOf returns a function that asks the host for a slot of a server. slots.js has the answers.
func slotOf(url string) func(context.Context, bool) (*turns.Slot, error) {
	return func(ctx context.Context, wait bool) (*turns.Slot, error) {
		question := "slot " + url
		if wait {
			question = "turn " + url
		}
		lent, answer, err := jsx.Borrow(ctx, question)
		if err != nil {
			return nil, err
		}
		slot := &turns.Slot{Release: lent.Close}
		switch answer {
		case "slot":
			slot.Over = lent.Recalled
		case "busy":
			lent.Close()
			return nil, turns.ErrBusy
		}
		return slot, nil
	}
}

// token asks the host for the token of that name.
func token(name string) func(context.Context) (string, error) {
	if name == "" {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		text, err := jsx.Ask(ctx, "token "+name)
		return string(text), err
	}
}

func header(members lw.Value) map[string][]string {
	all := map[string][]string{}
	for name, value := range members.Members() {
		all[name] = append(all[name], value.String())
	}
	return all
}
