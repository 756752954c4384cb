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

// transport returns that of an endpoint that a command describes.
func (p *program) transport(description lw.Value) (lw.Transport, error) {
	headers := header(description.Get("headers"))
	over, err := http.New(description.Get("server").String(), &http.Options{
		TokenFunc:   token(description.Get("token").String()),
		Header:      headers,
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
		if len(headers) > 0 {
			return over, nil // a WebSocket would go without them, as another user where one is impersonated
		}
		at := string(description.Get("server")) + string(description.Get("credentials"))
		if p.servers[at] == nil {
			p.servers[at] = fallback.New(over, ws.New(over, nil))
		}
		return p.servers[at].With(over, ws.New(over, nil)), nil
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
