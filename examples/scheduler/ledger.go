package scheduler

// ledger contains the number of Pods and the requested CPU of each node. It includes bindings that no watch has
// confirmed yet. It is not safe for concurrent use.
type ledger struct {
	placed map[string]placement // placements by Pod UID
	loads  map[string]load      // loads by node name
}

type placement struct {
	node string
	cpu  int64
	seen bool // whether a watch has confirmed the binding
}

type load struct {
	pods int
	cpu  int64
}

func newLedger() ledger {
	return ledger{placed: map[string]placement{}, loads: map[string]load{}}
}

// place assigns a Pod to a node. It replaces an earlier assignment of the Pod.
func (l *ledger) place(uid string, p placement) {
	l.remove(uid)
	l.placed[uid] = p
	l.add(p.node, 1, p.cpu)
}

func (l *ledger) remove(uid string) {
	if p, ok := l.placed[uid]; ok {
		delete(l.placed, uid)
		l.add(p.node, -1, -p.cpu)
	}
}

// forget removes a binding that no watch has confirmed. A confirmed binding remains until a watch reports that the Pod
// has ended.
func (l *ledger) forget(uid string) {
	if !l.placed[uid].seen {
		l.remove(uid)
	}
}

func (l *ledger) add(node string, pods int, cpu int64) {
	sum := l.loads[node]
	sum.pods += pods
	sum.cpu += cpu
	if l.loads[node] = sum; sum.pods == 0 {
		delete(l.loads, node)
	}
}

// without returns the load of a node without the given Pod.
func (l *ledger) without(node, uid string) load {
	sum := l.loads[node]
	if p, ok := l.placed[uid]; ok && p.node == node {
		sum.pods--
		sum.cpu -= p.cpu
	}
	return sum
}
