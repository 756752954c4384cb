package scheduler

// ledger counts what is on every node: the Pods that were seen there, and those that were only decided upon. It is not safe
// for concurrent use.
type ledger struct {
	placed map[string]placement // by the Pods' UIDs
	loads  map[string]load      // by the nodes' names
}

type placement struct {
	node string
	cpu  int64
	seen bool // and not only decided
}

type load struct {
	pods int
	cpu  int64
}

func newLedger() ledger {
	return ledger{placed: map[string]placement{}, loads: map[string]load{}}
}

// place counts a Pod, in place of where it was before.
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

// forget takes a decision back. A Pod that was seen stays until it is seen to go.
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

// without returns a node's load as it is without a Pod.
func (l *ledger) without(node, uid string) load {
	sum := l.loads[node]
	if p, ok := l.placed[uid]; ok && p.node == node {
		sum.pods--
		sum.cpu -= p.cpu
	}
	return sum
}
