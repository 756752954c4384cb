// Package cluster simulates a small Kubernetes cluster in a server of package lwtest. Deployments are scaled and rolled
// out. Pods are scheduled, start, run, finish, fail and terminate.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// interval is the duration of a simulation step. With 250 ms, the cluster makes about ten writes per second.
const interval = 250 * time.Millisecond

// Run simulates the cluster until ctx is done. The same seed results in the same writes, unless other clients write to
// the server. The cluster reacts to their writes, for example by replacing deleted Pods.
func Run(ctx context.Context, server *lwtest.Server, seed uint64) {
	c := start(server, seed, time.Now())
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		c.advance()
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// outage is the time for which Disturb stops the server. Run still changes the objects of the stopped server.
const outage = 700 * time.Millisecond

// Disturb alternately drops all connections and restarts the server until ctx is done. A restart discards the history,
// so that clients must relist. first is the delay before the first failure, and every is the interval between failures.
// Disturb returns an error if the server does not restart.
func Disturb(ctx context.Context, server *lwtest.Server, first, every time.Duration) error {
	next := time.NewTimer(first)
	defer next.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
		next.Reset(every)
		if n%2 == 0 {
			server.DropConnections()
			continue
		}
		server.Close()
		select {
		case <-ctx.Done():
		case <-time.After(outage):
		}
		if err := server.Restart(); err != nil {
			return err
		}
	}
}

// cluster simulates the controllers, the scheduler and the kubelets. Its clock moves in steps of interval.
type cluster struct {
	server *lwtest.Server
	rng    *rand.Rand
	begin  time.Time
	step   int
	tasks  []task // sorted by due step, then by order of creation
	nodes  []string
	events []string // keys of the Event objects, from oldest to newest
}

type task struct {
	due int
	do  func()
}

// start writes the initial objects and returns the cluster with its first tasks.
func start(server *lwtest.Server, seed uint64, begin time.Time) *cluster {
	c := &cluster{server: server, rng: rand.New(rand.NewPCG(seed, 0)), begin: begin}
	for _, name := range []string{"default", "kube-system", "shop", "batch"} {
		c.put("namespaces", newNamespace(name))
	}
	for i := range 3 {
		name := fmt.Sprintf("node-%d", i+1)
		c.nodes = append(c.nodes, name)
		c.put("nodes", c.node(name, i))
		c.after(13*(i+1), 0, func() { c.heartbeat(name) })
	}
	for i, a := range []*app{
		{namespace: "shop", name: "web", image: "images.example/shop/web"},
		{namespace: "shop", name: "cart", image: "images.example/shop/cart"},
		{namespace: "shop", name: "search", image: "images.example/shop/search"},
		{namespace: "kube-system", name: "coredns", image: "images.example/coredns"},
	} {
		a.version, a.hash = 1, c.word(10)
		c.put("configmaps", newConfigMap(a))
		c.put("services", newService(a, i))
		c.put("deployments.apps", newDeployment(a, 2+i%2))
		c.after(1, 3, func() { c.reconcile(a) })
		c.after(40, 40, func() { c.change(a) })
	}
	c.after(5, 10, c.job)
	return c
}

func (c *cluster) advance() {
	c.step++
	for len(c.tasks) > 0 && c.tasks[0].due <= c.step {
		do := c.tasks[0].do
		c.tasks = c.tasks[1:]
		do()
	}
}

// after schedules a call of do. The delay is the given number of steps plus a random number from 0 to spread.
func (c *cluster) after(steps, spread int, do func()) {
	t := task{c.step + steps + c.rng.IntN(spread+1), do}
	i, _ := slices.BinarySearchFunc(c.tasks, t.due+1, func(t task, due int) int { return t.due - due })
	c.tasks = slices.Insert(c.tasks, i, t)
}

func (c *cluster) now() time.Time { return c.begin.Add(time.Duration(c.step) * interval) }

func (c *cluster) stamp() string { return c.now().UTC().Format(time.RFC3339) }

// word returns n random characters from the alphabet that Kubernetes uses for generated names.
func (c *cluster) word(n int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[c.rng.IntN(len(alphabet))]
	}
	return string(b)
}

func (c *cluster) heartbeat(name string) {
	if c.patch("nodes", "", name, fields{"status": fields{"conditions": c.nodeConditions()}}) {
		c.after(40, 0, func() { c.heartbeat(name) })
	}
}

func (c *cluster) put(resource string, object fields) {
	if _, err := c.server.Put(resource, object); err != nil {
		panic("cluster: write " + resource + ": " + err.Error())
	}
}

// patch merges fields into an object. It returns false if the object does not exist.
func (c *cluster) patch(resource, namespace, name string, patch fields) bool {
	for {
		object, ok := c.get(resource, namespace, name)
		if !ok {
			return false
		}
		merge(object, patch)
		_, err := c.server.Put(resource, object)
		status, _ := errors.AsType[*lw.StatusError](err)
		switch {
		case err == nil:
			return true
		case status == nil || status.Code != http.StatusConflict && status.Code != http.StatusNotFound:
			panic("cluster: patch " + resource + " " + name + ": " + err.Error())
		}
	}
}

// remove deletes an object if it exists.
func (c *cluster) remove(resource, namespace, name string) {
	err := c.server.Delete(resource, namespace, name)
	if status, ok := errors.AsType[*lw.StatusError](err); err != nil && (!ok || status.Code != http.StatusNotFound) {
		panic("cluster: delete " + resource + " " + name + ": " + err.Error())
	}
}
