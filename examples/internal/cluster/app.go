package cluster

import "slices"

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

// change simulates a user. It scales the Deployment or rolls out a new version, and schedules its next call.
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
