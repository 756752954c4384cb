// Command informer is the driver with which the conformance suite runs the informer of package cache. Its arguments are
// the server's URL, a resource and a namespace.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cache"
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
	phase := lw.Waiting
	informer := cache.NewInformer(client, nil)
	for _, changes := range informer.Follow(context.Background()) {
		for _, change := range changes {
			kind, o := "MODIFIED", change.New
			switch change.Type {
			case lw.Added:
				kind = "ADDED"
			case lw.Deleted:
				kind, o = "DELETED", change.Old
			}
			printed(line{kind, o.GetNamespace() + "/" + o.GetName(), o.GetResourceVersion(), o.GetUID()})
		}
		if now := informer.State().Phase; now != phase {
			phase = now
			switch phase {
			case lw.Live:
				printed(line{Type: "LIVE"})
			case lw.Stale:
				printed(line{Type: "STALE"})
			}
		}
	}
}
