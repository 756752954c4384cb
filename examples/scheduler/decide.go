package scheduler

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Node is a candidate for [Choose]. CPU is its allocatable CPU, and Used is the CPU that its Pods request, both in
// millicores.
type Node struct {
	CPU, Used int64
	Pods      int
}

// Choose returns the node with the fewest Pods among those that have cpu millicores left. If several nodes qualify,
// it returns the first by name. It returns false if no node has enough CPU.
func Choose(nodes map[string]*Node, cpu int64) (name string, ok bool) {
	for _, candidate := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[candidate]
		if n.Used+cpu <= n.CPU && (!ok || n.Pods < nodes[name].Pods) {
			name, ok = candidate, true
		}
	}
	return name, ok
}

// wantsNode reports whether a Pod waits for a node: it has no node, no scheduling gate and no deletion timestamp, and
// has not finished.
func wantsNode(pod *lw.Object) bool {
	for range pod.Get("spec.schedulingGates").Elements() {
		return false
	}
	return pod.Get("spec.nodeName").String() == "" && !isDeleted(pod) && !isFinished(pod)
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

// isUsable reports whether a node is ready, schedulable and free of taints that exclude Pods.
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

// cpuOf returns a node's allocatable CPU in millicores. A node without this field has no limit.
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

// suffixes contains the millicores in one unit of each suffix.
var suffixes = map[string]float64{"n": 1e-6, "u": 1e-3, "m": 1, "": 1e3, "k": 1e6}

// thousandths converts a CPU quantity such as "250m" or "1.5" to millicores, rounding up. It returns 0 if the
// quantity is invalid.
func thousandths(quantity string) int64 {
	number := strings.TrimRight(quantity, "numk")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	// The subtraction keeps a rounding error such as 100.00000000000001 from becoming 101.
	return int64(math.Ceil(value*suffixes[quantity[len(number):]] - 1e-9))
}
