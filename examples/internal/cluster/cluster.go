// Package cluster simulates a small Kubernetes cluster in an lwtest server. Deployments are scaled and rolled out.
// Pods are scheduled, start, run, finish, fail and terminate.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// interval is the duration of a simulation step. With 250 ms, the cluster makes about ten writes per second.
const interval = 250 * time.Millisecond

// Run simulates the cluster until ctx is done. The same seed results in the same writes unless other clients write
// to the server, because the cluster reacts to their writes, for example by replacing deleted Pods.
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

// outage is how long Disturb stops the server. Run still changes the stopped server's objects.
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

// after schedules do to run after the given number of steps plus a random number from 0 to spread.
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

// app is a simulated Deployment and its Pods.
type app struct {
	namespace, name, image string
	version                int
	hash                   string // hash of the Pod template
	pods                   []*pod
}

// reconcile simulates the Deployment controller. It creates or deletes at most one Pod and schedules its next call.
func (c *cluster) reconcile(a *app) {
	_, stored := c.server.State("pods")
	a.pods = slices.DeleteFunc(a.pods, func(p *pod) bool {
		_, exists := stored[p.namespace+"/"+p.name]
		return !exists
	})
	wanted, ok := c.replicas(a)
	if !ok {
		wanted = 0
	}
	var current, old []*pod
	ready := 0
	for _, p := range a.pods {
		switch {
		case p.leaving:
			continue
		case p.hash == a.hash:
			current = append(current, p)
		default:
			old = append(old, p)
		}
		if p.ready {
			ready++
		}
	}
	switch {
	case len(current) < wanted:
		c.newAppPod(a)
	case len(current) > wanted:
		c.terminate(current[len(current)-1])
	case len(old) > 0 && ready > wanted:
		c.terminate(old[0])
	case !ok && len(a.pods) == 0:
		return // the Deployment and its Pods are deleted
	}
	c.patch("deployments.apps", a.namespace, a.name, newDeploymentStatus(wanted, len(current)+len(old), len(current), ready))
	c.after(2, 2, func() { c.reconcile(a) })
}

// replicas returns spec.replicas of the Deployment, or false if the Deployment does not exist.
func (c *cluster) replicas(a *app) (int, bool) {
	o, ok := c.get("deployments.apps", a.namespace, a.name)
	if !ok {
		return 0, false
	}
	spec, _ := o["spec"].(fields)
	wanted, ok := spec["replicas"].(float64)
	return int(wanted), ok
}

// change simulates a user who scales the Deployment or rolls out a new version, and schedules its next call.
func (c *cluster) change(a *app) {
	patch := fields{"spec": fields{"replicas": 1 + c.rng.IntN(5)}}
	if c.rng.IntN(3) == 0 {
		a.version++
		a.hash = c.word(10)
		patch = fields{"spec": fields{"template": newTemplate(a)}}
	}
	if c.patch("deployments.apps", a.namespace, a.name, patch) {
		c.after(40, 40, func() { c.change(a) })
	}
}

// pod is the simulator's record of a Pod.
type pod struct {
	namespace, name, node, image string
	app                          *app // nil if the Pod belongs to a Job
	hash                         string
	ready, leaving               bool
	started                      string
	restarts                     int
}

// Each stage of a Pod's lifecycle is a method of cluster that schedules the next stage. newAppPod and job are the first
// stages.

// then schedules a stage of a Pod. The stage is skipped if the Pod is terminating at that time.
func (c *cluster) then(p *pod, steps, spread int, stage func(*pod)) {
	c.after(steps, spread, func() {
		if !p.leaving {
			stage(p)
		}
	})
}

func (c *cluster) newAppPod(a *app) {
	p := &pod{namespace: a.namespace, app: a, hash: a.hash, image: a.imageTag()}
	p.name = fmt.Sprintf("%s-%s-%s", a.name, a.hash, c.word(5))
	a.pods = append(a.pods, p)
	c.createPod(p, newAppPodObject(a, p))
}

func (c *cluster) job() {
	p := &pod{namespace: "batch", image: "images.example/batch/report:1"}
	job := fmt.Sprintf("report-%d", 29_000_000+c.step)
	p.name = job + "-" + c.word(5)
	c.createPod(p, newJobPod(job, p))
	c.after(20, 20, c.job)
}

func (c *cluster) createPod(p *pod, f fields) {
	c.put("pods", f)
	c.then(p, 1, 2, c.schedule)
}

func (c *cluster) schedule(p *pod) {
	p.node = c.nodes[c.rng.IntN(len(c.nodes))]
	ok := c.patch("pods", p.namespace, p.name, fields{"spec": fields{"nodeName": p.node}}) &&
		c.podStatus("kube-scheduler", p, "Pending", fields{})
	if !ok {
		return
	}
	c.event(p, "default-scheduler", "Normal", "Scheduled", fmt.Sprintf("Successfully assigned %s/%s to %s", p.namespace, p.name, p.node))
	c.then(p, 1, 1, c.createContainer)
}

func (c *cluster) createContainer(p *pod) {
	waiting := c.container(p, fields{"waiting": fields{"reason": "ContainerCreating"}})
	if !c.podStatus("kubelet", p, "Pending", fields{"startTime": c.stamp(), "containerStatuses": []fields{waiting}}) {
		return
	}
	c.event(p, "kubelet", "Normal", "Pulling", fmt.Sprintf("Pulling image %q", p.image))
	c.then(p, 2, 6, c.run)
}

func (c *cluster) run(p *pod) {
	p.ready, p.started = true, c.stamp()
	running := c.container(p, fields{"running": fields{"startedAt": p.started}})
	if !c.podStatus("kubelet", p, "Running", fields{"podIP": c.podIP(), "containerStatuses": []fields{running}}) {
		return
	}
	c.event(p, "kubelet", "Normal", "Started", "Started container main")
	switch {
	case p.app == nil:
		c.then(p, 10, 20, c.finish)
	case c.rng.IntN(6) == 0:
		c.then(p, 20, 60, c.crash)
	}
}

// crash stops the container of a running Pod and schedules its restart.
func (c *cluster) crash(p *pod) {
	p.ready = false
	p.restarts++
	last := c.terminated(p, 1, "Error")
	status := c.container(p, fields{"waiting": fields{"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}})
	status["lastState"] = last
	if !c.podStatus("kubelet", p, "Running", fields{"containerStatuses": []fields{status}}) {
		return
	}
	c.event(p, "kubelet", "Warning", "BackOff", "Back-off restarting failed container main")
	c.then(p, 5, 10, c.run)
}

// finish ends the Pod of a Job as Succeeded or Failed and schedules its deletion.
func (c *cluster) finish(p *pod) {
	p.ready = false
	phase, state := "Succeeded", c.terminated(p, 0, "Completed")
	if c.rng.IntN(4) == 0 {
		phase, state = "Failed", c.terminated(p, 1, "Error")
	}
	if c.podStatus("kubelet", p, phase, fields{"containerStatuses": []fields{c.container(p, state)}}) {
		c.then(p, 20, 40, c.terminate)
	}
}

// terminate sets the deletion timestamp of a Pod and schedules its removal.
func (c *cluster) terminate(p *pod) {
	p.leaving, p.ready = true, false
	ok := c.patch("pods", p.namespace, p.name, fields{"metadata": fields{
		"deletionTimestamp":          c.now().Add(30 * time.Second).UTC().Format(time.RFC3339),
		"deletionGracePeriodSeconds": 30,
	}})
	if !ok {
		return
	}
	c.event(p, "kubelet", "Normal", "Killing", "Stopping container main")
	c.after(3, 8, func() { c.remove("pods", p.namespace, p.name) })
}

// podStatus writes the phase, the conditions and the given fields to a Pod's status. It returns false if the Pod does
// not exist.
func (c *cluster) podStatus(component string, p *pod, phase string, status fields) bool {
	status["phase"] = phase
	status["conditions"] = c.podConditions(p, phase)
	if component == "kubelet" {
		status["hostIP"] = c.hostIP(p.node)
	}
	return c.patch("pods", p.namespace, p.name, fields{"status": status})
}

// maxEvents is the maximum number of Event objects. In a real cluster, Event objects expire after some time.
const maxEvents = 60

func (c *cluster) event(p *pod, component, kind, reason, message string) {
	name := fmt.Sprintf("%s.%016x", p.name, c.rng.Uint64())
	c.put("events", c.eventObject(p, name, component, kind, reason, message))
	c.events = append(c.events, p.namespace+"/"+name)
	if len(c.events) > maxEvents {
		namespace, name, _ := strings.Cut(c.events[0], "/")
		c.remove("events", namespace, name)
		c.events = c.events[1:]
	}
}
