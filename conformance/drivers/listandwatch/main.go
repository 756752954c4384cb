// Command listandwatch is the driver with which the conformance suite runs lw.ListAndWatch. It remembers the
// resourceVersion of each object, so that it can print a list as changes. Its arguments are the server's URL, a resource
// and a namespace.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// line is the JSON format of one output line. The suite reads the same format from all drivers.
type line struct {
	Type            string `json:"type"`
	Key             string `json:"key,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	UID             string `json:"uid,omitempty"`
}

func main() {
	// With a ws: URL, watches use WebSocket, and all other requests use HTTP at the same address.
	base, err := lwhttp.New(strings.Replace(os.Args[1], "ws:", "http:", 1), nil)
	if err != nil {
		log.Fatal(err)
	}
	var transport lw.Transport = base
	if strings.HasPrefix(os.Args[1], "ws:") {
		transport = lwws.New(base)
	}
	client, err := lw.NewClient(transport, lw.Resource{Version: "v1", Plural: os.Args[2], Namespace: os.Args[3]}, lw.RawCodec{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	printed := func(l line) {
		if err := out.Encode(l); err != nil {
			log.Fatal(err)
		}
	}
	// held contains the objects that were printed, and listed contains the keys in the current list. An object that is
	// in held but not in a complete list was deleted.
	held, listed := map[string]line{}, map[string]bool{}
	for event := range lw.ListAndWatch(context.Background(), client, nil) {
		var l line
		if o := event.Object; o != nil {
			l = line{"MODIFIED", o.GetNamespace() + "/" + o.GetName(), o.GetResourceVersion(), o.GetUID()}
		}
		before, known := held[l.Key]
		switch event.Type {
		case lw.ListStarted:
			clear(listed)
		case lw.Added, lw.Modified:
			if !known {
				l.Type = "ADDED"
			}
			// A list also contains objects that have not changed.
			if listed[l.Key] = true; before.ResourceVersion != l.ResourceVersion || before.UID != l.UID {
				printed(l)
				held[l.Key] = l
			}
		case lw.Deleted:
			if l.Type = "DELETED"; known {
				printed(l)
			}
			delete(held, l.Key)
		case lw.Synced:
			for key, old := range held {
				if old.Type = "DELETED"; !listed[key] {
					printed(old)
					delete(held, key)
				}
			}
			printed(line{Type: "SYNCED"})
		case lw.WatchStarted:
			printed(line{Type: "LIVE"})
		case lw.Interrupted:
			printed(line{Type: "STALE"})
		}
	}
}
