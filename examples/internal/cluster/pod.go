package cluster

import (
	"fmt"
	"strings"
	"time"
)

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
