// Package cluster simulates a small Kubernetes cluster in an lwtest server, for the demo. Deployments are scaled and
// rolled out. Pods are scheduled, start, run, finish, fail and terminate.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// interval is the duration of a simulation step. It results in about ten writes per second.
const interval = 250 * time.Millisecond

// Run simulates the cluster until ctx is done. If no other client writes to the server, the same seed results in the
// same writes. The cluster reacts to the writes of other clients, for example by replacing deleted Pods.
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

// cluster simulates users, controllers, the scheduler and the kubelets. Each step depends only on the server's objects
// and on chance, so the cluster need not store its own state. Its clock moves in steps of interval.
type cluster struct {
	server *lwtest.Server
	rng    *rand.Rand
	begin  time.Time
	step   int
	events []lw.Key // Event objects, from oldest to newest
}

// start writes the initial objects.
func start(server *lwtest.Server, seed uint64, begin time.Time) *cluster {
	c := &cluster{server: server, rng: rand.New(rand.NewPCG(seed, 0)), begin: begin}
	for _, name := range []string{"default", "kube-system", "shop", "batch"} {
		c.put("namespaces", fields{"metadata": fields{"name": name}, "status": fields{"phase": "Active"}})
	}
	for i := range 3 {
		c.put("nodes", c.newNode(i))
	}
	for i, app := range []lw.Key{{Namespace: "shop", Name: "web"}, {Namespace: "shop", Name: "cart"}, {Namespace: "shop", Name: "search"}, {Namespace: "kube-system", Name: "coredns"}} {
		c.put("configmaps", fields{"metadata": meta(app), "data": fields{"log.level": "info", "listen": ":8080"}})
		c.put("services", newService(app, i))
		c.put("deployments.apps", newDeployment(app, 2+i%2))
	}
	return c
}

// advance simulates one step.
func (c *cluster) advance() {
	c.step++
	_, deployments := c.server.State("deployments.apps")
	_, pods := c.server.State("pods")
	_, nodes := c.server.State("nodes")
	for _, p := range inOrder(pods) {
		_, exists := deployments[p.GetNamespace()+"/"+appOf(p)]
		c.advancePod(p, appOf(p) != "" && !exists, inOrder(nodes))
	}
	for _, d := range inOrder(deployments) {
		c.scale(d, inOrder(pods))
		if c.chance(480) { // on average after two minutes, so that users can read about the Pods
			c.change(d)
		}
	}
	for _, node := range inOrder(nodes) {
		if c.chance(40) {
			c.patch("nodes", node, fields{"status": fields{"conditions": c.nodeConditions()}})
		}
	}
	if c.chance(30) {
		job := fmt.Sprintf("report-%d", 29_000_000+c.step) // like the Jobs of a CronJob, whose names end with a time in minutes
		c.put("pods", c.newJobPod(job))
	}
}

// inOrder returns the objects in the order of their keys, because the order of a map would make the simulation random.
func inOrder(objects map[string]*lw.Object) (sorted []*lw.Object) {
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		sorted = append(sorted, objects[key])
	}
	return sorted
}

// chance returns true in one of n calls on average.
func (c *cluster) chance(n int) bool { return c.rng.IntN(n) == 0 }

// scale simulates the Deployment controller. It creates or deletes at most one Pod of the Deployment, and updates the
// status.
func (c *cluster) scale(d *lw.Object, pods []*lw.Object) {
	wanted := int(d.Get("spec.replicas").Int())
	hash := templateHash(d)
	var current, old []*lw.Object
	ready := 0
	for _, p := range pods {
		if p.GetNamespace() != d.GetNamespace() || appOf(p) != d.GetName() || isLeaving(p) {
			continue
		}
		if of, _ := p.Label(hashLabel); of == hash {
			current = append(current, p)
		} else {
			old = append(old, p)
		}
		if firstOf(p, "status.containerStatuses").Get("ready").Bool() {
			ready++
		}
	}
	switch {
	case len(current) < wanted:
		c.put("pods", c.newAppPod(d, hash))
	case len(current) > wanted:
		c.terminate(current[len(current)-1])
	case len(old) > 0 && ready > wanted: // enough other Pods are ready
		c.terminate(old[0])
	}
	c.patch("deployments.apps", d, newDeploymentStatus(wanted, len(current)+len(old), len(current), ready))
}

// change simulates a user who scales a Deployment or rolls out a new version.
func (c *cluster) change(d *lw.Object) {
	if c.chance(3) {
		c.patch("deployments.apps", d, fields{"spec": fields{"template": newTemplate(lw.KeyOf(d), c.step)}})
	} else {
		c.patch("deployments.apps", d, fields{"spec": fields{"replicas": 1 + c.rng.IntN(5)}})
	}
}

// advancePod simulates the scheduler and the kubelet. It moves a Pod to the next stage of its lifecycle with a
// probability that depends on the stage. A Pod without a known phase comes from another client and does not change.
func (c *cluster) advancePod(p *lw.Object, orphaned bool, nodes []*lw.Object) {
	phase, container := p.Get("status.phase").String(), firstOf(p, "status.containerStatuses")
	switch {
	case isLeaving(p):
		if c.chance(6) {
			c.remove("pods", lw.KeyOf(p))
		}
	case orphaned:
		c.terminate(p)
	case phase == "Pending" && p.Get("spec.nodeName").String() == "":
		if c.chance(2) && len(nodes) > 0 {
			c.schedule(p, nodes[c.rng.IntN(len(nodes))].GetName())
		}
	case phase == "Pending" && !container.Exists():
		if c.chance(2) {
			c.setStatus(p, "Pending", fields{"waiting": fields{"reason": "ContainerCreating"}})
			c.event(p, "kubelet", "Normal", "Pulling", fmt.Sprintf("Pulling image %q", imageOf(p)))
		}
	case container.Get("state.waiting").Exists():
		if c.chance(6) {
			c.setStatus(p, "Running", fields{"running": fields{"startedAt": c.stamp()}})
			c.event(p, "kubelet", "Normal", "Started", "Started container main")
		}
	case phase == "Running" && appOf(p) != "":
		if c.chance(400) {
			c.setStatus(p, "Running", fields{"waiting": fields{"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}})
			c.event(p, "kubelet", "Warning", "BackOff", "Back-off restarting failed container main")
		}
	case phase == "Running":
		if c.chance(60) {
			c.finish(p)
		}
	case phase == "Succeeded" || phase == "Failed":
		if c.chance(240) {
			c.terminate(p)
		}
	}
}

// schedule simulates the scheduler. It assigns a Pod to a node.
func (c *cluster) schedule(p *lw.Object, node string) {
	c.patch("pods", p, fields{"spec": fields{"nodeName": node}, "status": fields{"conditions": c.podConditions(false)}})
	c.event(p, "default-scheduler", "Normal", "Scheduled", fmt.Sprintf("Successfully assigned %s to %s", lw.KeyOf(p), node))
}

// finish ends the Pod of a Job as Succeeded or Failed.
func (c *cluster) finish(p *lw.Object) {
	if c.chance(4) {
		c.setStatus(p, "Failed", fields{"terminated": fields{"exitCode": 1, "reason": "Error", "finishedAt": c.stamp()}})
	} else {
		c.setStatus(p, "Succeeded", fields{"terminated": fields{"exitCode": 0, "reason": "Completed", "finishedAt": c.stamp()}})
	}
}

// terminate sets the deletion timestamp of a Pod. A later step removes the Pod.
func (c *cluster) terminate(p *lw.Object) {
	deletion := c.now().Add(30 * time.Second).Format(time.RFC3339)
	c.patch("pods", p, fields{"metadata": fields{"deletionTimestamp": deletion, "deletionGracePeriodSeconds": 30}})
	c.event(p, "kubelet", "Normal", "Killing", "Stopping container main")
}

func isLeaving(p *lw.Object) bool { return p.Get("metadata.deletionTimestamp").Exists() }

// appOf returns the name of the Deployment to which a Pod belongs, or "" for the Pod of a Job.
func appOf(p *lw.Object) string {
	app, _ := p.Label(appLabel)
	return app
}

func imageOf(p *lw.Object) string { return firstOf(p, "spec.containers").Get("image").String() }

// templateHash returns the hash of a Deployment's Pod template. Pods with another hash belong to an older version.
func templateHash(d *lw.Object) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(d.Get("spec.template").Raw())))
}

// firstOf returns the first element of an array. The value does not exist if the array is empty.
func firstOf(o *lw.Object, path string) lw.Value {
	for element := range o.Get(path).Elements() {
		return element
	}
	return lw.Value{}
}

// maxEvents is the maximum number of Event objects. The cluster deletes the oldest one, because in a real cluster Event
// objects expire after an hour.
const maxEvents = 60

// event writes an Event object about a Pod. kind is "Normal" or "Warning".
func (c *cluster) event(p *lw.Object, component, kind, reason, message string) {
	key := lw.Key{Namespace: p.GetNamespace(), Name: fmt.Sprintf("%s.%016x", p.GetName(), c.rng.Uint64())}
	c.put("events", fields{
		"metadata": fields{"name": key.Name, "namespace": key.Namespace}, "type": kind, "reason": reason, "message": message,
		"involvedObject": fields{"kind": "Pod", "apiVersion": "v1", "namespace": key.Namespace, "name": p.GetName(), "uid": p.GetUID()},
		"firstTimestamp": c.stamp(), "lastTimestamp": c.stamp(), "count": 1, "source": fields{"component": component}, "reportingComponent": component,
	})
	c.events = append(c.events, key)
	if len(c.events) > maxEvents {
		c.remove("events", c.events[0])
		c.events = c.events[1:]
	}
}

func (c *cluster) put(resource string, object fields) {
	_, err := c.server.Put(resource, object)
	check(err, "write", resource)
}

func (c *cluster) remove(resource string, key lw.Key) {
	check(c.server.Delete(resource, key.Namespace, key.Name), "delete", resource)
}

// patch merges fields into an object.
func (c *cluster) patch(resource string, object *lw.Object, patch fields) {
	var f fields
	if err := json.Unmarshal([]byte(object.Raw()), &f); err != nil {
		panic(fmt.Sprintf("cluster: decode %s: %v", object, err))
	}
	merge(f, patch)
	c.put(resource, f)
}

// merge applies a JSON merge patch (RFC 7386) without nulls to an object.
func merge(object, patch fields) {
	for key, value := range patch {
		inner, isObject := value.(fields)
		old, wasObject := object[key].(fields)
		if isObject && wasObject {
			merge(old, inner)
		} else {
			object[key] = value
		}
	}
}

// check panics if a write failed. It ignores the error if another client has changed the object in the meantime,
// because the next step then decides again.
func check(err error, verb, resource string) {
	status, ok := errors.AsType[*lw.StatusError](err)
	if err != nil && (!ok || status.Code != http.StatusConflict && status.Code != http.StatusNotFound) {
		panic(fmt.Sprintf("cluster: %s %s: %v", verb, resource, err))
	}
}
