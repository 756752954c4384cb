//go:build !js

// Excluded from GOOS=js, because the embedded server needs sockets.

package savefile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/savefile"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// The second process resumes from the file that the first process saved. It receives the missed changes without a list.
func Example() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	folder, err := os.MkdirTemp("", "listwatch")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "pods")

	process := func(until int) { // runs until the store has this number of objects
		transport, err := lwhttp.New(server.URL, nil)
		if err != nil {
			panic(err)
		}
		defer transport.Close()
		client, err := lw.NewClient(transport, lw.Pods("shop"), lw.RawCodec{}, nil)
		if err != nil {
			panic(err)
		}
		pods := cache.NewInformer(client, &lw.Options{NoStreamingList: true})
		origin := server.URL + " shop/pods"
		switch err := savefile.Restore(path, pods, origin, lw.ParseObject); {
		case errors.Is(err, os.ErrNotExist):
			fmt.Println("the file does not exist yet")
		case err != nil:
			fmt.Println(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var saving sync.WaitGroup
		saving.Go(func() { // saves the Pods every minute, and a last time when ctx is done
			report := func(err error) { fmt.Println(err) }
			savefile.Keep(ctx, path, pods.Store(), origin, (*lw.Object).Raw, time.Minute, report)
		})
		for event, changes := range pods.Follow(ctx) {
			for _, change := range changes {
				fmt.Println(event.Type, change.Type, lw.KeyOf(change.New))
			}
			if event.Type != lw.Synced && event.ResourceVersion != "" && pods.Store().Len() == until {
				break
			}
		}
		cancel()
		saving.Wait() // otherwise the process could end before the last save
	}
	put := func(name string) {
		if _, err := server.Put("pods", `{"metadata":{"namespace":"shop","name":"`+name+`"}}`); err != nil {
			panic(err)
		}
	}
	put("web-0")
	put("web-1")
	process(2)
	put("web-2")
	process(3)
	complete := func(r lwtest.Request) bool { return lwtest.Lists(r) && r.URL.Query().Get("limit") != "1" } // a resumed process checks one object
	fmt.Println("list requests:", len(server.Requests(complete)))
	// Output:
	// the file does not exist yet
	// ADDED ADDED shop/web-0
	// ADDED ADDED shop/web-1
	// ADDED ADDED shop/web-0
	// ADDED ADDED shop/web-1
	// ADDED ADDED shop/web-2
	// list requests: 1
}
