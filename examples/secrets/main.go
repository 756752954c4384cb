// Secrets shows how an agent on a node can watch many single objects that come and go. It watches only the Secrets of
// the Pods on its node. The example runs against an embedded API server and prints its progress.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	pods := flag.Int("pods", 200, "number of Pods, each with a Secret")
	rounds := flag.Int("rounds", 5, "number of rounds; each replaces a tenth of the Pods and changes Secrets")
	flag.Parse()
	if err := run(*pods, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "secrets:", err)
		os.Exit(1)
	}
}

func run(pods, rounds int) error {
	server, err := lwtest.Start(nil)
	if err != nil {
		return err
	}
	defer server.Close()
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		return err
	}
	defer transport.Close()
	manager := NewManager(transport)
	defer manager.Close()
	n := &node{server: server, manager: manager}
	for range pods {
		if err := n.start(); err != nil {
			return err
		}
	}
	for round := range rounds {
		if err := n.turn(pods / 10); err != nil {
			return err
		}
		fmt.Printf("round %d: %d watched Secrets, all equal to the server; %d goroutines\n", round+1, manager.Len(), runtime.NumGoroutine())
	}
	return nil
}

// node starts and stops Pods.
type node struct {
	server  *lwtest.Server
	manager *Manager
	running []lw.Key // the Secrets of the running Pods
	started int
}

func (n *node) start() error {
	key := lw.Key{Namespace: "default", Name: "secret-" + strconv.Itoa(n.started)}
	n.started++
	if err := n.write(key); err != nil {
		return err
	}
	n.running = append(n.running, key)
	return n.manager.Use(key)
}

func (n *node) write(key lw.Key) error {
	_, err := n.server.Put("secrets", `{"metadata":{"namespace":"`+key.Namespace+`","name":"`+key.Name+`"},"data":{"token":"`+
		strconv.FormatUint(rand.Uint64(), 36)+`"}}`)
	return err
}

// turn replaces some Pods, changes some Secrets, and waits until all used Secrets equal those on the server.
func (n *node) turn(some int) error {
	for range some {
		i := rand.IntN(len(n.running))
		n.manager.Leave(n.running[i])
		n.running[i] = n.running[len(n.running)-1]
		n.running = n.running[:len(n.running)-1]
		if err := n.start(); err != nil {
			return err
		}
		if err := n.write(n.running[rand.IntN(len(n.running))]); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return n.wait(ctx)
}

// wait waits until the manager has the server's version of every used Secret.
func (n *node) wait(ctx context.Context) error {
	_, state := n.server.State("secrets")
	for _, key := range n.running {
		want := state[key.String()]
		if err := n.manager.WaitFor(ctx, key, want.GetResourceVersion()); err != nil {
			return fmt.Errorf("%v: %w", key, err)
		}
		if got, err := n.manager.Get(ctx, key); err != nil || got.GetResourceVersion() != want.GetResourceVersion() {
			return fmt.Errorf("%v differs from the server: %v", key, err)
		}
	}
	return nil
}
