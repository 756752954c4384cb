package lwtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// DemoOptions of [Server.RunDemo]. The zero value of a field is its default.
type DemoOptions struct {
	// Seed decides what happens and in which order: the same seed gives the
	// same sequence of writes to a server that nobody else writes to.
	Seed uint64
	// Speed is how fast time goes. 1, or what is not above zero, makes about ten writes a second.
	Speed float64
}

// demoStep is the demo cluster's unit of time, at speed 1.
const demoStep = 250 * time.Millisecond

// RunDemo brings the cluster to life until ctx ends: nodes that send
// heartbeats, deployments that are scaled and rolled over, and pods that are
// scheduled, start, run, finish, fail and terminate, with the events that tell
// of it. What others do to the objects is respected: a pod deleted from
// outside is replaced, a deployment scaled from outside follows.
func (s *Server) RunDemo(ctx context.Context, opts *DemoOptions) {
	if opts == nil {
		opts = &DemoOptions{}
	}
	d := newDemo(s, opts.Seed, time.Now())
	speed := opts.Speed
	if !(speed > 0) {
		speed = 1
	}
	ticker := time.NewTicker(max(time.Duration(float64(demoStep)/speed), 1))
	defer ticker.Stop()
	for ctx.Err() == nil {
		d.advance()
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// demo is the cluster's controllers, scheduler and kubelets. It knows no
// clock: every advance is one step of its time.
type demo struct {
	server *Server
	rng    *rand.Rand
	start  time.Time
	step   int
	tasks  []task // by due step, then by the order of planning
	nodes  []string
	events []string // keys of the events, oldest first
}

type task struct {
	due int
	do  func()
}

func newDemo(s *Server, seed uint64, start time.Time) *demo {
	d := &demo{server: s, rng: rand.New(rand.NewPCG(seed, 0)), start: start}
	for _, name := range []string{"default", "kube-system", "shop", "batch"} {
		d.put("kubectl", "namespaces", demoNamespace(name))
	}
	for i := range 3 {
		name := fmt.Sprintf("node-%d", i+1)
		d.nodes = append(d.nodes, name)
		d.put("kubelet", "nodes", d.node(name, i))
		d.after(13*(i+1), 0, func() { d.heartbeat(name) })
	}
	for i, a := range []*app{
		{namespace: "shop", name: "web", image: "images.example/shop/web"},
		{namespace: "shop", name: "cart", image: "images.example/shop/cart"},
		{namespace: "shop", name: "search", image: "images.example/shop/search"},
		{namespace: "kube-system", name: "coredns", image: "images.example/coredns"},
	} {
		a.version, a.hash = 1, d.word(10)
		d.put("kubectl", "configmaps", demoConfigMap(a))
		d.put("kubectl", "services", demoService(a, i))
		d.put("kubectl", "deployments.apps", demoDeployment(a, 2+i%2))
		d.after(1, 3, func() { d.reconcile(a) })
		d.after(40, 40, func() { d.change(a) })
	}
	d.after(5, 10, d.job)
	return d
}

// advance lets one step of time pass.
func (d *demo) advance() {
	d.step++
	for len(d.tasks) > 0 && d.tasks[0].due <= d.step {
		do := d.tasks[0].do
		d.tasks = d.tasks[1:]
		do()
	}
}

// after plans something for the given number of steps from now, and up to
// spread more.
func (d *demo) after(steps, spread int, do func()) {
	t := task{d.step + steps + d.rng.IntN(spread+1), do}
	i, _ := slices.BinarySearchFunc(d.tasks, t.due+1, func(t task, due int) int { return t.due - due })
	d.tasks = slices.Insert(d.tasks, i, t)
}

func (d *demo) now() time.Time { return d.start.Add(time.Duration(d.step) * demoStep) }

func (d *demo) stamp() string { return d.now().UTC().Format(time.RFC3339) }

// word is a random string as in generated names.
func (d *demo) word(n int) string { return suffix(n, d.rng.IntN) }

// put stores a whole object as one of the cluster's components. Whatever was
// there before the demo is replaced.
func (d *demo) put(component, resource string, f fields) {
	res, ok := d.server.resource(resource)
	if !ok {
		return // removed from the server: the demo does without
	}
	if _, err := d.server.put(res, canonical(f), writer{name: component}); err != nil {
		panic("lwtest: the demo wrote a bad object: " + err.Error())
	}
}

// canonical gives fields the types that come out of a JSON decoder.
func canonical(f fields) fields {
	decoded, err := decodeFields(marshal(f))
	if err != nil {
		panic("lwtest: the demo made no object: " + err.Error())
	}
	return decoded
}

// patch changes an object as one of the cluster's components. It is false if
// the object is gone.
func (d *demo) patch(component, resource, namespace, name string, patch fields) bool {
	res, ok := d.server.resource(resource)
	if !ok {
		return false
	}
	by := writer{name: component}
	if patch["status"] != nil {
		by.subresource = "status"
	}
	_, err := d.server.update(res, namespace, name, by, func(old *object) fields {
		return mergePatch(old.decode(), canonical(patch))
	})
	return err == nil
}

func (d *demo) heartbeat(name string) {
	if d.patch("kubelet", "nodes", "", name, fields{"status": fields{"conditions": d.nodeConditions()}}) {
		d.after(40, 0, func() { d.heartbeat(name) })
	}
}

func (d *demo) get(resource, namespace, name string) (*object, bool) {
	res, ok := d.server.resource(resource)
	if !ok {
		return nil, false
	}
	o, err := d.server.get(res, namespace, name)
	return o, err == nil
}
