package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

const usage = `lwcat prints the events of Kubernetes collections, and never stops by itself.

Usage:
  lwcat [flags] RESOURCE|PATH...

RESOURCE is named as kubectl names it: pods, po, deploy.apps, deployments.v1.apps, pod/web-0.
PATH is a collection's path on the server, as /apis/apps/v1/deployments.

Where:
  -s, --server URL               the API server, as https://127.0.0.1:6443 (required)
      --token TOKEN              bearer token
      --certificate-authority F  PEM file to verify the server with
      --insecure-skip-tls-verify do not verify it
      --transport NAME           what watches go over: http, ws (WebSocket), or auto: http, and ws where that
                                 does not stream (default: http)

What:
  -n, --namespace NAME           default: "default"
  -A, --all-namespaces
  -l, --selector LABELS          as app=web,tier!=db
      --field-selector FIELDS    as spec.nodeName=n1
      --once                     list, print, exit

How:
  -o, --output FORMAT            json: a line {"type":...,"object":...} an event
                                 line: a line for people (default on a terminal)
      --show-managed-fields      do not leave out metadata.managedFields

Exit codes: 0 done; 1 the server or the network said no; 2 wrong usage; 130 interrupted.

Examples:
  lwcat -s http://127.0.0.1:8001 -A pods
  lwcat -s http://127.0.0.1:8001 --once -o json nodes | jq -r .object.metadata.name
`

var errHelp = errors.New("help")

// config is what the command line says.
type config struct {
	server        string
	connect       lwhttp.Options
	transport     string
	namespace     string
	allNamespaces bool
	labels        string
	fields        string
	once          bool
	output        string
	managedFields bool
	names         []string // resources and paths
}

// parse reads the command line. Flags may stand before, between and behind the names.
func parse(args []string, terminal bool) (*config, error) {
	c := &config{output: "json"}
	if terminal {
		c.output = "line"
	}
	set := flag.NewFlagSet("lwcat", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	c.register(set)
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, errHelp
			}
			return nil, err
		}
		if args = set.Args(); len(args) > 0 {
			c.names, args = append(c.names, args[0]), args[1:]
		}
	}
	return c, c.validate()
}

func (c *config) register(set *flag.FlagSet) {
	text := func(p *string, value string, names ...string) {
		for _, name := range names {
			set.StringVar(p, name, value, "")
		}
	}
	text(&c.server, "", "s", "server")
	text(&c.connect.Token, "", "token")
	text(&c.connect.CAFile, "", "certificate-authority")
	set.BoolVar(&c.connect.InsecureSkipVerify, "insecure-skip-tls-verify", false, "")
	text(&c.transport, "http", "transport")
	text(&c.namespace, "default", "n", "namespace")
	set.BoolVar(&c.allNamespaces, "A", false, "")
	set.BoolVar(&c.allNamespaces, "all-namespaces", false, "")
	text(&c.labels, "", "l", "selector")
	text(&c.fields, "", "field-selector")
	set.BoolVar(&c.once, "once", false, "")
	text(&c.output, c.output, "o", "output")
	set.BoolVar(&c.managedFields, "show-managed-fields", false, "")
}

func (c *config) validate() error {
	switch {
	case c.server == "":
		return errors.New("no server: give its URL by --server")
	case len(c.names) == 0:
		return errors.New("no resource: name one, as pods")
	case c.output != "json" && c.output != "line":
		return fmt.Errorf("no output format %q: there are json and line", c.output)
	case c.transport != "http" && c.transport != "ws" && c.transport != "auto":
		return fmt.Errorf("no transport %q: there are http, ws and auto", c.transport)
	case c.allNamespaces:
		c.namespace = ""
	}
	if !strings.Contains(c.server, "://") {
		return fmt.Errorf("the server's URL must begin with https:// or http://, and is %q", c.server)
	}
	return nil
}
