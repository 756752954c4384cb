package lwtest

import (
	"encoding/json"
	"slices"
)

// app is a deployment and its pods.
type app struct {
	namespace, name, image string
	version                int
	hash                   string // of the pod template
	pods                   []*pod
}

// reconcile is the deployment controller: one step towards what is wanted.
func (d *demo) reconcile(a *app) {
	a.pods = slices.DeleteFunc(a.pods, func(p *pod) bool { return !d.exists(p) })
	wanted, ok := d.replicas(a)
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
		d.newAppPod(a)
	case len(current) > wanted:
		d.terminate(current[len(current)-1])
	case len(old) > 0 && ready > wanted:
		d.terminate(old[0])
	case !ok && len(a.pods) == 0:
		return // deleted from outside, and all is cleaned up
	}
	d.patch("kube-controller-manager", "deployments.apps", a.namespace, a.name, demoDeploymentStatus(wanted, len(current)+len(old), len(current), ready))
	d.after(2, 2, func() { d.reconcile(a) })
}

// replicas is what the deployment asks for now; someone may have changed it.
func (d *demo) replicas(a *app) (int, bool) {
	o, ok := d.get("deployments.apps", a.namespace, a.name)
	if !ok {
		return 0, false
	}
	spec, _ := o.decode()["spec"].(fields)
	n, ok := spec["replicas"].(json.Number)
	wanted, _ := n.Int64()
	return int(wanted), ok
}

func (d *demo) exists(p *pod) bool {
	_, ok := d.get("pods", p.namespace, p.name)
	return ok
}

// change is the user, who scales a deployment or rolls out a new version.
func (d *demo) change(a *app) {
	patch := fields{"spec": fields{"replicas": 1 + d.rng.IntN(5)}}
	if d.rng.IntN(3) == 0 {
		a.version++
		a.hash = d.word(10)
		patch = fields{"spec": fields{"template": demoTemplate(a)}}
	}
	if d.patch("kubectl", "deployments.apps", a.namespace, a.name, patch) {
		d.after(40, 40, func() { d.change(a) })
	}
}
