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

// transport returns the one that a command describes.
func (p *program) transport(command lw.Value) (lw.Transport, error) {
	endpoint := command.Get("endpoint")
	if known := p.transports[string(endpoint)]; known != nil {
		return known, nil
	}
	over, err := http.New(endpoint.Get("server").String(), &http.Options{
		TokenFunc:   token(endpoint.Get("token").String()),
		Header:      header(endpoint.Get("headers")),
		Credentials: endpoint.Get("credentials").String(),
	})
	if err != nil {
		return nil, err
	}
	var made lw.Transport
	switch kind := endpoint.Get("transport").String(); kind {
	case "http":
		made = over
	case "ws":
		made = ws.New(over, nil)
	case "auto":
		made = fallback.New(over, ws.New(over, nil))
	default:
		return nil, errors.New("there is no transport " + kind)
	}
	p.transports[string(endpoint)] = made
	return made, nil
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
