package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

// trial is a scenario, together with the front of its server and the time in which a client must recover.
type trial struct {
	hostile.Scenario
	front
	rebuild  *hostile.Rebuild // describes the server after an outage; nil if the trial has no outage
	deadline time.Duration
}

const (
	// usual covers two of the longest backoffs of client-go, which are 30 seconds plus jitter.
	usual = 90 * time.Second
	// idle is for servers with silent watches. Bookmarks usually arrive every minute. If a watch is dead, missing
	// bookmarks are the only sign of it. The deadline covers two missing bookmarks and the recovery.
	idle = 3 * time.Minute
	// honored covers a Retry-After of several minutes. Trials with this deadline run only with -long.
	honored = 7 * time.Minute
)

// deadlines contains the deadlines that differ from usual.
var deadlines = map[string]time.Duration{
	"at-timeout": idle, "white-space": idle, "blank-object": idle, "bookmark-then-silent": idle, "mute": idle, "mute-watches": idle, "mute-all": idle,
	"regressing-check": idle, "no-mark": idle, "retry-after": honored, "error-429": honored, "https-silent": idle, "ws-pings": idle,
}

// webSocket contains the scenarios that also run over WebSocket.
var webSocket = []string{"streaming", "listing", "999ms", "one-event-reset", "half-event", "instant", "bookmark-then-silent", "mute-watches", "410-events", "410-http", "503-storm"}

// fronts contains trials whose connections misbehave. Their servers reject streaming lists, and most of them close each
// watch after 999 ms, so that clients open many connections.
var fronts = []struct {
	name, does, source string
	front
}{
	{"https", "responds correctly over TLS, but closes each watch after 999 ms", rfcTLS, front{}},
	{"https-goaway", "closes each connection after a response, in HTTP/2 with GOAWAY", "https://www.rfc-editor.org/rfc/rfc9113#section-6.8", front{closes: true}},
	{"https-unknown-authority", "presents a certificate from an unknown authority in every other handshake", rfcTLS, front{closes: true, wrong: unknownAuthority}},
	{"https-expired", "presents an expired certificate in every other handshake", rfcTLS, front{closes: true, wrong: expired}},
	{"https-other-host", "presents another host's certificate in every other handshake", rfcTLS, front{closes: true, wrong: otherHost}},
	{"https-silent", "sends and receives nothing over a connection that is five seconds old", "https://github.com/kubernetes/client-go/issues/374", front{freezes: 5 * time.Second}},
	// This server freezes each connection at once, because zero would mean never.
	{"https-silent-handshake", "does not respond to TLS handshakes", rfcTLS, front{freezes: time.Nanosecond}},
}

const rfcTLS = "https://www.rfc-editor.org/rfc/rfc9110#section-4.3.4"

// excused contains properties that no client can keep in some trials, because of the server. It maps the name of a
// trial to these properties, and each property to the reason.
var excused = map[string]map[string]string{
	"deletes-in-list": {"resurrection": "The server itself sends a change after the deletion."},
	"lagging-lists": {
		"resurrection": "The server's lists are older than its earlier responses.",
		"order":        "The server's lists are older than its earlier responses.",
	},
}

// all returns the trials.
func all(seed uint64) (trials []*trial) {
	named := map[string]hostile.Scenario{}
	add := func(s hostile.Scenario, name string, front front) *trial {
		front.scheme = cmp.Or(front.scheme, "http")
		t := &trial{Scenario: s, front: front, deadline: cmp.Or(deadlines[name], deadlines[s.Name], usual)}
		t.Name, t.Seed = name, seed
		trials = append(trials, t)
		return t
	}
	for _, s := range hostile.All() {
		named[s.Name] = s
		add(s, s.Name, front{})
	}
	for _, rebuild := range hostile.Rebuilds() {
		t := add(named["listing"], "outage-"+strings.NewReplacer(",", "", " ", "-").Replace(strings.ToLower(rebuild.Name)), front{})
		t.Does, t.Source, t.rebuild = "is unreachable for some seconds and then "+rebuild.Does, "https://github.com/kubernetes/kubernetes/issues/107457", &rebuild
	}
	for _, f := range fronts {
		f.front.scheme = "https"
		on := "999ms"
		if f.freezes > 0 { // the watches must stay open until their connections freeze
			on = "listing"
		}
		t := add(named[on], f.name, f.front)
		t.Does, t.Source, t.Lists = f.does, f.source, true
	}
	for _, name := range webSocket {
		t := add(named[name], "ws-"+name, front{scheme: "ws"})
		t.Does = "over WebSocket, " + t.Does
	}
	for _, s := range hostile.WebSockets() {
		add(s, s.Name, front{scheme: "ws"})
	}
	return trials
}
