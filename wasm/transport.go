//go:build js

package main

import (
	"context"
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	"github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/seed-6d2a410a/listwatch/wasm/internal/turns"
)

// server records which transports work for an API server. All streams from this API server share it.
type server struct {
	fallback *fallback.Transport // has no transports; its method With returns transports that share a choice
	sockets  *turns.Support      // whether the server supports WebSockets
}

// transport returns the transport that a command describes. The transport calls onShare when a watch starts to share
// connections.
func (m *module) transport(description lw.Value, onShare func()) (lw.Transport, error) {
	url, headers := description.Get("server").String(), header(description.Get("headers"))
	base, err := http.New(url, &http.Options{
		TokenFunc:   token(description.Get("token").String()),
		Header:      headers,
		Credentials: description.Get("credentials").String(),
	})
	if err != nil {
		return nil, err
	}
	bounded := &turns.Transport{HTTP: base, Take: slotRequester(url), Waits: onShare}
	switch kind := description.Get("transport").String(); kind {
	case "http":
		return bounded, nil
	case "ws":
		return ws.New(base), nil
	case "auto":
		if len(headers) > 0 {
			return bounded, nil // a WebSocket cannot send headers; without an impersonation header, the server would act as another user
		}
		at := description.Get("server").Raw() + description.Get("credentials").Raw()
		known := m.servers[at]
		if known == nil {
			known = &server{fallback.New(nil, nil), turns.NewSupport()}
			m.servers[at] = known
		}
		// A watch uses HTTP if a slot is free, and otherwise a WebSocket, which needs no slot. If the server does not
		// support WebSockets either, the watch waits for a slot.
		free := &turns.Transport{HTTP: base, Take: bounded.Take}
		bounded.First = known.fallback.With(free, &turns.Sockets{WebSocket: ws.New(base), Support: known.sockets})
		return bounded, nil
	default:
		return nil, errors.New("unknown transport " + kind)
	}
}

// slotRequester returns a func that asks the host for a slot. slots.js answers "slot", "busy", or "" if the watch needs
// no slot.
func slotRequester(url string) func(context.Context, bool) (*turns.Slot, error) {
	return func(ctx context.Context, wait bool) (*turns.Slot, error) {
		question := map[bool]string{false: "slot ", true: "turn "}[wait]
		lent, answer, err := jsx.Borrow(ctx, question+url)
		if err != nil {
			return nil, err
		}
		slot := &turns.Slot{Release: func() { _ = lent.Close() }}
		switch answer {
		case "slot":
			slot.Over = lent.Recalled
		case "busy":
			_ = lent.Close()
			return nil, turns.ErrBusy
		}
		return slot, nil
	}
}

// token returns a TokenFunc that asks the host for the token with this name.
func token(name string) func(context.Context) (string, error) {
	if name == "" {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		text, err := jsx.Ask(ctx, "token "+name)
		return string(text), err
	}
}

// header converts an object with the names and values of headers to the type that package http requires.
func header(members lw.Value) map[string][]string {
	all := map[string][]string{}
	for name, value := range members.Members() {
		all[name] = append(all[name], value.String())
	}
	return all
}
