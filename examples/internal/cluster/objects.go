package cluster

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
)

type fields = map[string]any

// get looks up an object on the server. ok is false if it does not exist.
func (c *cluster) get(resource, namespace, name string) (object fields, ok bool) {
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	_, objects := c.server.State(resource)
	stored, ok := objects[key]
	if !ok {
		return nil, false
	}
	if err := json.Unmarshal([]byte(stored.Raw()), &object); err != nil {
		panic("cluster: decode " + resource + " " + key + ": " + err.Error())
	}
	return object, true
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

// The following functions return objects like those in a real cluster.

func newNamespace(name string) fields {
	return fields{
		"metadata": fields{"name": name, "labels": fields{"kubernetes.io/metadata.name": name}},
		"spec":     fields{"finalizers": []string{"kubernetes"}},
		"status":   fields{"phase": "Active"},
	}
}

func (c *cluster) node(name string, i int) fields {
	resources := fields{"cpu": "4", "memory": "16384Mi", "pods": "110", "ephemeral-storage": "100Gi"}
	return fields{
		"metadata": fields{
			"name": name,
			"labels": fields{
				"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
				"topology.kubernetes.io/zone": fmt.Sprintf("zone-%c", 'a'+i),
			},
			"annotations": fields{"node.alpha.kubernetes.io/ttl": "0"},
		},
		"spec": fields{"podCIDR": fmt.Sprintf("10.244.%d.0/24", i)},
		"status": fields{
			"capacity": resources, "allocatable": resources, "conditions": c.nodeConditions(),
			"addresses": []fields{{"type": "InternalIP", "address": c.hostIP(name)}, {"type": "Hostname", "address": name}},
			"nodeInfo":  fields{"kubeletVersion": "v1.36.3", "osImage": "Example Linux", "architecture": "amd64", "operatingSystem": "linux"},
		},
	}
}

func (c *cluster) nodeConditions() []fields {
	condition := func(kind, status, reason, message string) fields {
		return fields{
			"type": kind, "status": status, "reason": reason, "message": message,
			"lastHeartbeatTime": c.stamp(), "lastTransitionTime": c.begin.UTC().Format(time.RFC3339),
		}
	}
	return []fields{
		condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
	}
}

func (c *cluster) hostIP(node string) string {
	return "192.0.2.1" + strings.TrimPrefix(node, "node-")
}

func (c *cluster) podIP() string {
	return fmt.Sprintf("10.244.%d.%d", c.rng.IntN(3), 2+c.rng.IntN(250))
}

func (a *app) imageTag() string { return fmt.Sprintf("%s:1.%d", a.image, a.version) }

func (a *app) labels() fields { return fields{"app.kubernetes.io/name": a.name} }

func newConfigMap(a *app) fields {
	return fields{
		"metadata": fields{"name": a.name, "namespace": a.namespace, "labels": a.labels()},
		"data":     fields{"log.level": "info", "listen": ":8080"},
	}
}

func newService(a *app, i int) fields {
	return fields{
		"metadata": fields{"name": a.name, "namespace": a.namespace, "labels": a.labels()},
		"spec": fields{
			"type": "ClusterIP", "clusterIP": fmt.Sprintf("10.96.0.%d", 10+i), "selector": a.labels(),
			"ports": []fields{{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}},
		},
	}
}

func newDeployment(a *app, replicas int) fields {
	return fields{
		"metadata": fields{
			"name": a.name, "namespace": a.namespace, "labels": a.labels(),
			"annotations": fields{"deployment.kubernetes.io/revision": "1"},
		},
		"spec": fields{
			"replicas": replicas, "selector": fields{"matchLabels": a.labels()}, "template": newTemplate(a),
			"strategy": fields{"type": "RollingUpdate", "rollingUpdate": fields{"maxSurge": 1, "maxUnavailable": 0}},
		},
	}
}

func newTemplate(a *app) fields {
	return fields{
		"metadata": fields{"labels": a.labels()},
		"spec":     newPodSpec(a.imageTag(), "Always"),
	}
}

func newDeploymentStatus(wanted, all, updated, ready int) fields {
	available := "True"
	if ready < wanted {
		available = "False"
	}
	return fields{"status": fields{
		"replicas": all, "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": ready,
		"unavailableReplicas": max(0, wanted-ready),
		"conditions":          []fields{{"type": "Available", "status": available}},
	}}
}

func newPodSpec(image, restart string) fields {
	return fields{
		"containers": []fields{{
			"name": "main", "image": image, "imagePullPolicy": "IfNotPresent",
			"ports": []fields{{"containerPort": 8080, "protocol": "TCP"}},
			"resources": fields{
				"requests": fields{"cpu": "100m", "memory": "64Mi"},
				"limits":   fields{"memory": "128Mi"},
			},
			"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		}},
		"restartPolicy": restart, "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
		"schedulerName": "default-scheduler", "serviceAccountName": "default", "enableServiceLinks": true,
		"tolerations": []fields{{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}},
	}
}

func newAppPodObject(a *app, p *pod) fields {
	labels := a.labels()
	labels["pod-template-hash"] = p.hash
	set := a.name + "-" + p.hash
	return newPod(p, set+"-", "apps/v1", "ReplicaSet", set, labels, "Always")
}

func newJobPod(job string, p *pod) fields {
	labels := fields{"batch.kubernetes.io/job-name": job}
	return newPod(p, job+"-", "batch/v1", "Job", job, labels, "Never")
}

func newPod(p *pod, prefix, ownerVersion, ownerKind, owner string, labels fields, restart string) fields {
	return fields{
		"metadata": fields{
			"name": p.name, "namespace": p.namespace, "generateName": prefix, "labels": labels,
			"ownerReferences": []fields{{
				"apiVersion": ownerVersion, "kind": ownerKind, "name": owner, "controller": true, "blockOwnerDeletion": true,
				"uid": fmt.Sprintf("%08x-0000-4000-8000-000000000000", crc32.ChecksumIEEE([]byte(owner))),
			}},
		},
		"spec":   newPodSpec(p.image, restart),
		"status": fields{"phase": "Pending", "qosClass": "Burstable"},
	}
}

func (c *cluster) podConditions(p *pod, phase string) []fields {
	condition := func(kind string, ok bool) fields {
		f := fields{"type": kind, "status": "True", "lastProbeTime": nil, "lastTransitionTime": c.stamp()}
		if !ok {
			f["status"], f["reason"] = "False", "ContainersNotReady"
			if phase == "Succeeded" {
				f["reason"] = "PodCompleted"
			}
		}
		return f
	}
	return []fields{
		condition("PodScheduled", p.node != ""),
		condition("Initialized", true),
		condition("ContainersReady", p.ready),
		condition("Ready", p.ready),
	}
}

func (c *cluster) container(p *pod, state fields) fields {
	_, running := state["running"]
	f := fields{
		"name": "main", "image": p.image, "imageID": "", "ready": running, "started": running,
		"restartCount": p.restarts, "state": state, "lastState": fields{},
	}
	if p.started != "" {
		f["imageID"] = p.image + "@sha256:" + strings.Repeat("0", 64)
		f["containerID"] = "containerd://" + strings.Repeat("0", 64)
	}
	return f
}

func (c *cluster) terminated(p *pod, exitCode int, reason string) fields {
	return fields{"terminated": fields{
		"exitCode": exitCode, "reason": reason, "startedAt": p.started, "finishedAt": c.stamp(),
	}}
}

func (c *cluster) eventObject(p *pod, name, component, kind, reason, message string) fields {
	involved := fields{"kind": "Pod", "apiVersion": "v1", "namespace": p.namespace, "name": p.name}
	if o, ok := c.get("pods", p.namespace, p.name); ok {
		involved["uid"] = o["metadata"].(fields)["uid"]
	}
	source := fields{"component": component}
	if component == "kubelet" {
		source["host"] = p.node
	}
	return fields{
		"metadata":       fields{"name": name, "namespace": p.namespace},
		"involvedObject": involved, "type": kind, "reason": reason, "message": message, "source": source,
		"firstTimestamp": c.stamp(), "lastTimestamp": c.stamp(), "count": 1, "reportingComponent": component,
	}
}
