// Package objects provides small objects for benchmarks of stores.
package objects

import "strconv"

// Object is an lw.Keyed that contains the name of a node. Benchmarks index objects by node.
type Object struct{ Namespace, Name, Node, Version string }

// GetNamespace implements lw.Keyed.
func (o *Object) GetNamespace() string { return o.Namespace }

// GetName implements lw.Keyed.
func (o *Object) GetName() string { return o.Name }

// GetResourceVersion implements lw.Keyed.
func (o *Object) GetResourceVersion() string { return o.Version }

// Nodes is the number of different node names that New assigns.
const Nodes = 100

// Node returns the name of node i, for example "node-7".
func Node(i int) string { return "node-" + strconv.Itoa(i) }

// New returns n objects in 1,000 namespaces. Object i is on node (i+offset) modulo Nodes and has the resourceVersion
// version+i.
func New(n, offset, version int) []*Object {
	all := make([]*Object, n)
	for i := range all {
		all[i] = &Object{
			Namespace: "namespace-" + strconv.Itoa(i%1000), Name: "some-workload-5d8f9c7b6d-" + strconv.Itoa(i),
			Node: Node((i + offset) % Nodes), Version: strconv.Itoa(version + i),
		}
	}
	return all
}
