package output

import (
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// summarize returns the state of an object in a few words.
func summarize(o *lw.Object) string {
	if o.Get("metadata.deletionTimestamp").Exists() {
		return "Terminating"
	}
	switch o.Kind() {
	case "Node":
		state := condition(o)
		if o.Get("spec.unschedulable").Bool() {
			state += ",SchedulingDisabled"
		}
		return strings.TrimSpace(state + " " + o.Get("status.nodeInfo.kubeletVersion").String())
	case "DaemonSet":
		return ratio(o, "status.numberReady", "status.desiredNumberScheduled") + " ready"
	case "Job":
		return strings.TrimSpace(condition(o) + " " + ratio(o, "status.succeeded", "spec.completions"))
	case "Service":
		return strings.TrimSpace(o.Get("spec.type").String() + " " + first(o, "spec.clusterIP", "spec.externalName"))
	case "ConfigMap", "Secret":
		keys := 0
		for _, path := range []string{"data", "binaryData"} {
			for range o.Get(path).Members() {
				keys++
			}
		}
		if keys == 1 {
			return "1 key"
		}
		return fmt.Sprintf("%d keys", keys)
	}
	if state := first(o, "status.containerStatuses[0].state.waiting.reason", "status.phase"); state != "" {
		return state
	}
	if o.Get("spec.replicas").Exists() {
		return ratio(o, "status.readyReplicas", "spec.replicas") + " ready"
	}
	return condition(o)
}

// ratio formats two numbers, for example "2/3".
func ratio(o *lw.Object, part, whole string) string {
	return fmt.Sprintf("%d/%d", o.Get(part).Int(), o.Get(whole).Int())
}

// condition returns Ready or NotReady. If the object has no Ready condition, it returns the last condition that is
// true.
func condition(o *lw.Object) (state string) {
	for condition := range o.Get("status.conditions").Elements() {
		name, holds := condition.Get("type").String(), condition.Get("status").String() == "True"
		switch {
		case name == "Ready" && !holds:
			return "NotReady"
		case holds:
			state = name
		}
		if name == "Ready" {
			return state
		}
	}
	return state
}

// first returns the first value at these paths that is not empty or null, or "".
func first(object *lw.Object, paths ...string) string {
	for _, path := range paths {
		if text := object.Get(path).String(); text != "" {
			return text
		}
	}
	return ""
}
