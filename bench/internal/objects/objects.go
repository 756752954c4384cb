// Package objects provides small objects for benchmarks of stores.
package objects

import "strconv"

// Object has a key, a resourceVersion and the name of a node, which benchmarks use as an index.
type Object struct{ Namespace, Name, Node, Version string }

// GetNamespace implements lw.Keyed.
func (o *Object) GetNamespace() string { return o.Namespace }

// GetName implements lw.Keyed.
func (o *Object) GetName() string { return o.Name }

// GetResourceVersion implements lw.Keyed.
func (o *Object) GetResourceVersion() string { return o.Version }

// Nodes is the number of nodes over which New spreads the objects.
const Nodes = 100

// Node returns the name of a node, for example "node-7" for the number 7.
func Node(i int) string { return "node-" + strconv.Itoa(i) }

// New returns n objects in 1,000 namespaces, spread over all nodes. The offset is added to the node number of each
// object. The version is the resourceVersion of the first object, and increases by one for each following object.
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
