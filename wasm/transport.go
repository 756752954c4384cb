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
)

// endpoint is a server as it is asked, by one user in one way.
type endpoint struct {
	transport lw.Transport
	users     int
}

// endpoint returns the one that a command describes, for one collection more.
func (p *program) endpoint(description lw.Value) (*endpoint, error) {
	at := p.endpoints[string(description)]
	if at == nil {
		transport, err := newTransport(description)
		if err != nil {
			return nil, err
		}
		at = &endpoint{transport: transport}
		p.endpoints[string(description)] = at
	}
	at.users++
	return at, nil
}

// leave forgets an endpoint when its last collection is gone.
func (p *program) leave(description lw.Value) {
	at := p.endpoints[string(description)]
	if at.users--; at.users == 0 {
		delete(p.endpoints, string(description))
	}
}

func newTransport(description lw.Value) (lw.Transport, error) {
	over, err := http.New(description.Get("server").String(), &http.Options{
		TokenFunc:   token(description.Get("token").String()),
		Header:      header(description.Get("headers")),
		Credentials: description.Get("credentials").String(),
	})
	if err != nil {
		return nil, err
	}
	switch kind := description.Get("transport").String(); kind {
	case "http":
		return over, nil
	case "ws":
		return ws.New(over, nil), nil
	case "auto":
		return fallback.New(over, ws.New(over, nil)), nil
	default:
		return nil, errors.New("there is no transport " + kind)
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
