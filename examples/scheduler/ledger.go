package scheduler

// ledger counts the Pods and the requested CPU of each node. It includes bindings that no watch has confirmed. It is
// not safe for concurrent use.
type ledger struct {
	placed map[string]placement // the keys are Pod UIDs
	loads  map[string]load      // the keys are node names
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

// place assigns a Pod to a node and replaces its earlier placement.
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

// forget removes a Pod unless a watch has confirmed its binding. A confirmed binding lasts until a watch reports that
// the Pod has finished or is deleted.
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

// without returns the load of a node, excluding one Pod.
func (l *ledger) without(node, uid string) load {
	sum := l.loads[node]
	if p, ok := l.placed[uid]; ok && p.node == node {
		sum.pods--
		sum.cpu -= p.cpu
	}
	return sum
}
