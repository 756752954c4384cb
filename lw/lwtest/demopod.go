package lwtest

import (
	"fmt"
	"time"
)

// pod is what the demo knows of a pod besides what is stored.
type pod struct {
	namespace, name, node, image string
	app                          *app // nil for a job's pod
	hash                         string
	ready, leaving               bool
	started                      string
	restarts                     int
}

// newAppPod and job create pods; what follows is the pod's life, one method
// for each stage. A stage that finds the pod gone ends it.

// then plans the next stage, which does not come if the pod is to leave.
func (d *demo) then(p *pod, steps, spread int, stage func(*pod)) {
	d.after(steps, spread, func() {
		if !p.leaving {
			stage(p)
		}
	})
}

func (d *demo) newAppPod(a *app) {
	p := &pod{namespace: a.namespace, app: a, hash: a.hash, image: a.imageTag()}
	p.name = fmt.Sprintf("%s-%s-%s", a.name, a.hash, d.word(5))
	a.pods = append(a.pods, p)
	d.createPod(p, demoAppPod(a, p))
}

func (d *demo) job() {
	p := &pod{namespace: "batch", image: "images.example/batch/report:1"}
	job := fmt.Sprintf("report-%d", 29_000_000+d.step)
	p.name = job + "-" + d.word(5)
	d.createPod(p, demoJobPod(job, p))
	d.after(20, 20, d.job)
}

func (d *demo) createPod(p *pod, f fields) {
	d.put("kube-controller-manager", "pods", f)
	d.then(p, 1, 2, d.schedule)
}

func (d *demo) schedule(p *pod) {
	p.node = d.nodes[d.rng.IntN(len(d.nodes))]
	ok := d.patch("kube-scheduler", "pods", p.namespace, p.name, fields{"spec": fields{"nodeName": p.node}}) &&
		d.podStatus("kube-scheduler", p, "Pending", fields{})
	if !ok {
		return
	}
	d.event(p, "default-scheduler", "Normal", "Scheduled", fmt.Sprintf("Successfully assigned %s/%s to %s", p.namespace, p.name, p.node))
	d.then(p, 1, 1, d.createContainer)
}

func (d *demo) createContainer(p *pod) {
	waiting := d.container(p, fields{"waiting": fields{"reason": "ContainerCreating"}})
	if !d.podStatus("kubelet", p, "Pending", fields{"startTime": d.stamp(), "containerStatuses": []fields{waiting}}) {
		return
	}
	d.event(p, "kubelet", "Normal", "Pulling", fmt.Sprintf("Pulling image %q", p.image))
	d.then(p, 2, 6, d.run)
}

func (d *demo) run(p *pod) {
	p.ready, p.started = true, d.stamp()
	running := d.container(p, fields{"running": fields{"startedAt": p.started}})
	if !d.podStatus("kubelet", p, "Running", fields{"podIP": d.podIP(), "containerStatuses": []fields{running}}) {
		return
	}
	d.event(p, "kubelet", "Normal", "Started", "Started container main")
	switch {
	case p.app == nil:
		d.then(p, 10, 20, d.finish)
	case d.rng.IntN(6) == 0:
		d.then(p, 20, 60, d.crash)
	}
}

// crash ends the container of a running pod; it is started again.
func (d *demo) crash(p *pod) {
	p.ready = false
	p.restarts++
	last := d.terminated(p, 1, "Error")
	status := d.container(p, fields{"waiting": fields{"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}})
	status["lastState"] = last
	if !d.podStatus("kubelet", p, "Running", fields{"containerStatuses": []fields{status}}) {
		return
	}
	d.event(p, "kubelet", "Warning", "BackOff", "Back-off restarting failed container main")
	d.then(p, 5, 10, d.run)
}

// finish ends a job's pod, well or badly. It is cleaned up later.
func (d *demo) finish(p *pod) {
	p.ready = false
	phase, state := "Succeeded", d.terminated(p, 0, "Completed")
	if d.rng.IntN(4) == 0 {
		phase, state = "Failed", d.terminated(p, 1, "Error")
	}
	if d.podStatus("kubelet", p, phase, fields{"containerStatuses": []fields{d.container(p, state)}}) {
		d.then(p, 20, 40, d.terminate)
	}
}

// terminate asks for a pod's deletion; its kubelet then takes its time.
func (d *demo) terminate(p *pod) {
	p.leaving, p.ready = true, false
	ok := d.patch("kube-controller-manager", "pods", p.namespace, p.name, fields{"metadata": fields{
		"deletionTimestamp":          d.now().Add(30 * time.Second).UTC().Format(time.RFC3339),
		"deletionGracePeriodSeconds": 30,
	}})
	if !ok {
		return
	}
	d.event(p, "kubelet", "Normal", "Killing", "Stopping container main")
	d.after(3, 8, func() { d.server.Delete("pods", p.namespace, p.name) }) // someone may have been faster
}

// podStatus writes a pod's status as its phase and readiness have it.
func (d *demo) podStatus(component string, p *pod, phase string, status fields) bool {
	status["phase"] = phase
	status["conditions"] = d.podConditions(p, phase)
	if component == "kubelet" {
		status["hostIP"] = d.hostIP(p.node)
	}
	return d.patch(component, "pods", p.namespace, p.name, fields{"status": status})
}

// maxDemoEvents is how many events are kept; in a real cluster they expire.
const maxDemoEvents = 60

func (d *demo) event(p *pod, component, kind, reason, message string) {
	key := fmt.Sprintf("%s.%016x", p.name, d.rng.Uint64())
	d.put(component, "events", d.eventObject(p, key, component, kind, reason, message))
	d.events = append(d.events, p.namespace+"/"+key)
	if len(d.events) > maxDemoEvents {
		d.deleteEvent(d.events[0])
		d.events = d.events[1:]
	}
}
