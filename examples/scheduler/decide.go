package scheduler

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// The stores contain only these fields of each object.
var (
	podFields = []string{
		"metadata.deletionTimestamp", "spec.nodeName", "spec.schedulingGates",
		"spec.containers[*].resources.requests.cpu", "status.phase",
	}
	nodeFields = []string{
		"metadata.deletionTimestamp", "spec.unschedulable", "spec.taints[*].effect",
		"status.conditions[*].type", "status.conditions[*].status", "status.allocatable.cpu",
	}
)

// Node is a candidate for Choose. CPU is the allocatable CPU and Used is the requested CPU, both in millicores.
type Node struct {
	Name      string
	CPU, Used int64
	Pods      int
}

// Choose returns the node with the fewest Pods among all nodes with enough free CPU. Among equal nodes, it returns the
// first by name. It returns false if no node has enough CPU.
func Choose(nodes []Node, cpu int64) (name string, ok bool) {
	best := -1
	for i, n := range nodes {
		if n.Used+cpu > n.CPU {
			continue
		}
		if best < 0 || n.Pods < nodes[best].Pods || n.Pods == nodes[best].Pods && n.Name < nodes[best].Name {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	return nodes[best].Name, true
}

// fits reports whether the named node exists and has enough free CPU.
func fits(nodes []Node, name string, cpu int64) bool {
	return slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == name && n.Used+cpu <= n.CPU })
}

// wantsNode reports whether the Pod needs scheduling.
func wantsNode(pod *lw.Object) bool {
	gated := false
	for range pod.Get("spec.schedulingGates").Elements() {
		gated = true
	}
	return pod.Get("spec.nodeName").String() == "" && !gated && !isDeleted(pod) && !isFinished(pod)
}

// occupiesNode reports whether the Pod uses CPU on a node.
func occupiesNode(pod *lw.Object) bool {
	return pod.Get("spec.nodeName").String() != "" && !isFinished(pod)
}

func isDeleted(object *lw.Object) bool { return object.Get("metadata.deletionTimestamp").Exists() }

func isFinished(pod *lw.Object) bool {
	phase := pod.Get("status.phase").String()
	return phase == "Succeeded" || phase == "Failed"
}

// isUsable reports whether Pods may be bound to the node.
func isUsable(node *lw.Object) bool {
	if isDeleted(node) || node.Get("spec.unschedulable").Bool() {
		return false
	}
	for taint := range node.Get("spec.taints").Elements() {
		if effect := taint.Get("effect").String(); effect == "NoSchedule" || effect == "NoExecute" {
			return false
		}
	}
	for condition := range node.Get("status.conditions").Elements() {
		if condition.Get("type").String() == "Ready" {
			return condition.Get("status").String() == "True"
		}
	}
	return false
}

// cpuOf returns the allocatable CPU of a node in millicores, or a very large number if the node does not specify it.
func cpuOf(node *lw.Object) int64 {
	cpu := node.Get("status.allocatable.cpu")
	if !cpu.Exists() {
		return math.MaxInt64 / 2 // half of the maximum, because sums must not overflow
	}
	return thousandths(cpu.String())
}

// requested returns the total CPU requests of a Pod in millicores.
func requested(pod *lw.Object) (cpu int64) {
	for container := range pod.Get("spec.containers").Elements() {
		cpu += thousandths(container.Get("resources.requests.cpu").String())
	}
	return cpu
}

var suffixes = map[string]float64{"n": 1e-6, "u": 1e-3, "m": 1, "": 1e3, "k": 1e6}

// thousandths parses a CPU quantity such as "250m" or "1.5" and rounds up to millicores. It returns 0 for invalid
// quantities.
func thousandths(quantity string) int64 {
	number := strings.TrimRight(quantity, "numk")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return int64(math.Ceil(value*suffixes[quantity[len(number):]] - 1e-9)) // without the subtraction, 0.1 × 1000 would round up to 101
}
