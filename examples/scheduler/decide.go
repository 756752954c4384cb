package scheduler

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Fields that the stores keep.
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

// Node is a candidate for [Choose]. CPU is its allocatable CPU, and Used is the CPU that its Pods request, both in
// millicores.
type Node struct {
	Name      string
	CPU, Used int64
	Pods      int
}

// Choose returns the node with the fewest Pods that has cpu millicores left. If several nodes have the fewest Pods, it
// returns the first by name. It returns false if no node has enough CPU.
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

// fits reports whether nodes contains the named node and the node has cpu millicores left.
func fits(nodes []Node, name string, cpu int64) bool {
	return slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == name && n.Used+cpu <= n.CPU })
}

// wantsNode reports whether a Pod waits for a node: it has no node, no scheduling gate and no deletion timestamp, and
// has not finished.
func wantsNode(pod *lw.Object) bool {
	gated := false
	for range pod.Get("spec.schedulingGates").Elements() {
		gated = true
	}
	return pod.Get("spec.nodeName").String() == "" && !gated && !isDeleted(pod) && !isFinished(pod)
}

// occupiesNode reports whether a Pod has a node and has not finished.
func occupiesNode(pod *lw.Object) bool {
	return pod.Get("spec.nodeName").String() != "" && !isFinished(pod)
}

func isDeleted(object *lw.Object) bool { return object.Get("metadata.deletionTimestamp").Exists() }

func isFinished(pod *lw.Object) bool {
	phase := pod.Get("status.phase").String()
	return phase == "Succeeded" || phase == "Failed"
}

// isUsable reports whether a node is ready, schedulable and without taints that exclude Pods.
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

// cpuOf returns the allocatable CPU of a node in millicores. A node without this field has no limit.
func cpuOf(node *lw.Object) int64 {
	cpu := node.Get("status.allocatable.cpu")
	if !cpu.Exists() {
		return math.MaxInt64 / 2 // half of the maximum, so that sums do not overflow
	}
	return thousandths(cpu.String())
}

// requested returns the sum of a Pod's CPU requests in millicores.
func requested(pod *lw.Object) (cpu int64) {
	for container := range pod.Get("spec.containers").Elements() {
		cpu += thousandths(container.Get("resources.requests.cpu").String())
	}
	return cpu
}

var suffixes = map[string]float64{"n": 1e-6, "u": 1e-3, "m": 1, "": 1e3, "k": 1e6}

// thousandths converts a CPU quantity such as "250m" or "1.5" to millicores and rounds up. It returns 0 for an invalid
// quantity.
func thousandths(quantity string) int64 {
	number := strings.TrimRight(quantity, "numk")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return int64(math.Ceil(value*suffixes[quantity[len(number):]] - 1e-9)) // the subtraction keeps a rounding error such as 100.00000000000001 from becoming 101
}
