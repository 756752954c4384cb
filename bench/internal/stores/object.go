package stores

import (
	"math/rand/v2"
	"strconv"
)

// Object is what is stored: a key, and what the indexes look at.
type Object struct {
	Namespace, Name, Node, Phase, Version string
	Labels                                []string
}

// GetNamespace, GetName and GetResourceVersion make it an object for a store.
func (o *Object) GetNamespace() string       { return o.Namespace }
func (o *Object) GetName() string            { return o.Name }
func (o *Object) GetResourceVersion() string { return o.Version }

// Key is what an index finds an object by.
type Key func(*Object) string

// The keys of indexes: by namespace there are a thousand, by node a hundred, and by phase two.
func ByNamespace(o *Object) string { return o.Namespace }
func ByNode(o *Object) string      { return o.Node }
func ByPhase(o *Object) string     { return o.Phase }

// ByLabel returns the key of an index by one of the labels.
func ByLabel(i int) Key { return func(o *Object) string { return o.Labels[i] } }

// Nodes is how many nodes there are, and how many different sets of labels.
const Nodes = 100

// Node is a node's name.
func Node(i int) string { return "node-" + strconv.Itoa(i) }

// Objects returns n different objects in a thousand namespaces, three of four running, without labels.
func Objects(n int) []*Object {
	all := make([]*Object, n)
	for i := range all {
		all[i] = &Object{
			Namespace: "namespace-" + strconv.Itoa(i%1000), Name: "some-workload-5d8f9c7b6d-" + strconv.Itoa(i),
			Node: Node(i % Nodes), Phase: []string{"Pending", "Running", "Running", "Running"}[i/Nodes%4], Version: strconv.Itoa(i),
		}
	}
	return all
}

// Labelled returns n different objects with so many labels.
func Labelled(n, labels int) []*Object {
	all, sets := Objects(n), LabelSets(labels)
	for i, o := range all {
		o.Labels = sets[i%len(sets)]
	}
	return all
}

// LabelSets returns different sets of labels, none of which has a value of another one.
func LabelSets(labels int) [][]string {
	sets := make([][]string, Nodes)
	for i := range sets {
		for j := range labels {
			sets[i] = append(sets[i], "value-"+strconv.Itoa(j)+"-"+strconv.Itoa(i))
		}
	}
	return sets
}

// Next is the object's next version, on another node if it moves.
func (o *Object) Next(random *rand.Rand, moves bool) *Object {
	next := *o
	next.Version = strconv.Itoa(random.Int())
	if moves {
		next.Node = Node(random.IntN(Nodes))
	}
	return &next
}
