package cluster

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

type fields = map[string]any

// The labels of a Pod that belongs to a Deployment.
const (
	appLabel  = "app.kubernetes.io/name"
	hashLabel = "pod-template-hash"
)

// now returns the simulated time. It does not depend on the real time that the steps take.
func (c *cluster) now() time.Time { return c.begin.Add(time.Duration(c.step) * interval).UTC() }

func (c *cluster) stamp() string { return c.now().Format(time.RFC3339) }

// meta returns the metadata of an object that belongs to an app.
func meta(app lw.Key) fields {
	return fields{"name": app.Name, "namespace": app.Namespace, "labels": fields{appLabel: app.Name}}
}

func (c *cluster) newNode(i int) fields {
	name := fmt.Sprintf("node-%d", i+1)
	resources := fields{"cpu": "4", "memory": "16384Mi", "pods": "110"}
	return fields{
		"metadata": fields{"name": name, "labels": fields{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprintf("zone-%c", 'a'+i)}},
		"spec":     fields{"podCIDR": fmt.Sprintf("10.244.%d.0/24", i)},
		"status": fields{
			"capacity": resources, "allocatable": resources, "conditions": c.nodeConditions(),
			"addresses": []fields{{"type": "InternalIP", "address": fmt.Sprintf("192.0.2.%d", 11+i)}},
			"nodeInfo":  fields{"kubeletVersion": "v1.36.3", "osImage": "Example Linux", "architecture": "amd64", "operatingSystem": "linux"},
		},
	}
}

func (c *cluster) nodeConditions() []fields {
	started := c.begin.UTC().Format(time.RFC3339)
	return []fields{
		{"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": c.stamp(), "lastTransitionTime": started},
		{"type": "Ready", "status": "True", "lastHeartbeatTime": c.stamp(), "lastTransitionTime": started},
	}
}

func newService(app lw.Key, i int) fields {
	return fields{"metadata": meta(app), "spec": fields{
		"type": "ClusterIP", "clusterIP": fmt.Sprintf("10.96.0.%d", 10+i), "selector": fields{appLabel: app.Name},
		"ports": []fields{{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}},
	}}
}

func newDeployment(app lw.Key, replicas int) fields {
	return fields{"metadata": meta(app), "spec": fields{
		"replicas": replicas, "selector": fields{"matchLabels": fields{appLabel: app.Name}}, "template": newTemplate(app, 0),
		"strategy": fields{"type": "RollingUpdate", "rollingUpdate": fields{"maxSurge": 1, "maxUnavailable": 0}},
	}}
}

func newTemplate(app lw.Key, version int) fields {
	image := fmt.Sprintf("images.example/%s/%s:1.%d", app.Namespace, app.Name, version)
	return fields{"metadata": fields{"labels": fields{appLabel: app.Name}}, "spec": newPodSpec(image, "Always")}
}

func newDeploymentStatus(wanted, all, updated, ready int) fields {
	available := "True"
	if ready < wanted {
		available = "False"
	}
	return fields{"status": fields{
		"replicas": all, "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": ready,
		"unavailableReplicas": max(0, wanted-ready), "conditions": []fields{{"type": "Available", "status": available}},
	}}
}

func newPodSpec(image, restart string) fields {
	return fields{
		"containers": []fields{{
			"name": "main", "image": image, "ports": []fields{{"containerPort": 8080, "protocol": "TCP"}},
			"resources": fields{"requests": fields{"cpu": "100m", "memory": "64Mi"}, "limits": fields{"memory": "128Mi"}},
		}},
		"restartPolicy": restart, "terminationGracePeriodSeconds": 30, "schedulerName": "default-scheduler", "serviceAccountName": "default",
	}
}

func (c *cluster) newAppPod(d *lw.Object, hash string) fields {
	owner := fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": d.GetName(), "uid": d.GetUID(), "controller": true}
	return c.newPod(d.GetNamespace(), d.GetName()+"-"+hash, fields{appLabel: d.GetName(), hashLabel: hash}, owner, json.RawMessage(d.Get("spec.template.spec").Raw()))
}

func (c *cluster) newJobPod(job string) fields {
	owner := fields{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": job, "controller": true} // the server has no Jobs
	return c.newPod("batch", job, fields{"batch.kubernetes.io/job-name": job}, owner, newPodSpec("images.example/batch/report:1", "Never"))
}

func (c *cluster) newPod(namespace, prefix string, labels, owner fields, spec any) fields {
	return fields{
		"metadata": fields{
			"name": fmt.Sprintf("%s-%05x", prefix, c.rng.IntN(1<<20)), "namespace": namespace,
			"labels": labels, "ownerReferences": []fields{owner},
		},
		"spec": spec, "status": fields{"phase": "Pending", "qosClass": "Burstable"},
	}
}

// setStatus simulates the kubelet. It writes the phase of a Pod and the state of its container.
func (c *cluster) setStatus(p *lw.Object, phase string, state fields) {
	before := firstOf(p, "status.containerStatuses")
	_, running := state["running"]
	restarts := before.Get("restartCount").Int()
	if before.Get("state.running").Exists() && phase == "Running" {
		restarts++ // the container crashed and starts again
	}
	status := fields{"phase": phase, "conditions": c.podConditions(running), "containerStatuses": []fields{{
		"name": "main", "image": imageOf(p), "ready": running, "started": running, "restartCount": restarts, "state": state,
	}}}
	if running {
		status["hostIP"], status["podIP"] = c.addresses(p.Get("spec.nodeName").String())
	}
	c.patch("pods", p, fields{"status": status})
}

// addresses returns the address of a node, and a random address for a Pod on the node.
func (c *cluster) addresses(node string) (host, pod string) {
	var i int
	_, _ = fmt.Sscanf(node, "node-%d", &i) // the node of another client counts as 0
	return fmt.Sprintf("192.0.2.%d", 10+i), fmt.Sprintf("10.244.%d.%d", max(0, i-1), 2+c.rng.IntN(250))
}

func (c *cluster) podConditions(ready bool) []fields {
	status := "False"
	if ready {
		status = "True"
	}
	condition := func(kind, status string) fields {
		return fields{"type": kind, "status": status, "lastProbeTime": nil, "lastTransitionTime": c.stamp()}
	}
	return []fields{
		condition("PodScheduled", "True"), condition("Initialized", "True"),
		condition("ContainersReady", status), condition("Ready", status),
	}
}
