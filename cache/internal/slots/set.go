package slots

import "slices"

// nodeSize is the maximum number of members or children of a node. A write after a snapshot copies one node per level.
const nodeSize = 64

// Set is a sorted set of slots. The zero value is empty. Many sets of an index have only one member, which Set stores
// without allocating memory. A larger set is a tree, so that a write after a snapshot copies only a few nodes.
type Set struct {
	length uint32
	one    uint32 // the only member, if length is 1
	root   *node  // contains all members if length is greater than 1
}

// node is a leaf with sorted members, or an inner node with children. An inner node also stores the last member of each
// child, so that a search finds the child without visiting the others. No node is empty, and all leaves have the same
// depth. Sparse nodes are never merged.
type node struct {
	epoch    uint64
	members  []uint32
	children []*node
}

// Len returns the number of members.
func (s *Set) Len() int { return int(s.length) }

// All calls a func for every member in ascending order until the func returns false. It reports whether it visited all
// members.
func (s *Set) All(each func(slot uint32) bool) bool {
	if s.length == 1 {
		return each(s.one)
	}
	return s.length == 0 || s.root.all(each)
}

func (n *node) all(each func(slot uint32) bool) bool {
	leaf := n.children == nil
	for i, slot := range n.members {
		if leaf && !each(slot) || !leaf && !n.children[i].all(each) {
			return false
		}
	}
	return true
}

// Insert adds a slot, which must not be a member.
func (s *Set) Insert(epoch uint64, slot uint32) {
	s.length++
	switch s.length {
	case 1:
		s.one = slot
		return
	case 2:
		s.root = &node{epoch: epoch, members: append(make([]uint32, 0, 4), s.one)}
	}
	left := s.root.own(epoch)
	s.root = left
	if right := left.insert(epoch, slot); right != nil {
		s.root = &node{epoch: epoch, members: []uint32{left.last(), right.last()}, children: []*node{left, right}}
	}
}

// Remove removes a slot. It has no effect if the slot is not a member.
func (s *Set) Remove(epoch uint64, slot uint32) {
	switch {
	case s.length == 1 && s.one == slot:
		s.length = 0
		return
	case s.length < 2:
		return
	}
	s.root = s.root.own(epoch)
	if !s.root.remove(epoch, slot) {
		return
	}
	s.length--
	for len(s.root.children) == 1 {
		s.root = s.root.children[0]
	}
	if s.length == 1 {
		s.one, s.root = s.root.members[0], nil
	}
}

// own returns n if it was created in this epoch, and otherwise a copy of n. The result may be modified.
func (n *node) own(epoch uint64) *node {
	if n.epoch == epoch {
		return n
	}
	room := min(len(n.members)+1, nodeSize)
	made := &node{epoch: epoch, members: append(make([]uint32, 0, room), n.members...)}
	if n.children != nil {
		made.children = append(make([]*node, 0, room), n.children...)
	}
	return made
}

// ownChild returns the child at an index, ready for modification. It replaces a child from an earlier epoch with a
// copy.
func (n *node) ownChild(epoch uint64, at int) *node {
	child := n.children[at].own(epoch)
	n.children[at] = child
	return child
}

// insert adds a member to n, which must already have been copied for this epoch. If n is split, insert returns the new
// node with the greater members, and otherwise nil.
func (n *node) insert(epoch uint64, slot uint32) (right *node) {
	at := n.find(slot)
	if n.children == nil {
		return n.put(epoch, at, slot, nil)
	}
	at = min(at, len(n.children)-1)
	child := n.ownChild(epoch, at)
	split := child.insert(epoch, slot)
	n.members[at] = child.last()
	if split == nil {
		return nil
	}
	return n.put(epoch, at+1, split.last(), split)
}

// put inserts a member into a leaf, or a child and its last member into an inner node. It splits a full node in the
// middle. For an insertion at the end, it moves only the new member to the new node, so that ascending insertions fill
// the nodes.
func (n *node) put(epoch uint64, at int, member uint32, child *node) (right *node) {
	if len(n.members) < nodeSize {
		n.place(at, member, child)
		return nil
	}
	cut := nodeSize / 2
	if at == nodeSize {
		cut = nodeSize
	}
	right = &node{epoch: epoch, members: append([]uint32(nil), n.members[cut:]...)}
	n.members = n.members[:cut]
	if child != nil {
		right.children = append([]*node(nil), n.children[cut:]...)
		clear(n.children[cut:])
		n.children = n.children[:cut]
	}
	if at < nodeSize && at <= cut {
		n.place(at, member, child)
	} else {
		right.place(at-cut, member, child)
	}
	return right
}

func (n *node) place(at int, member uint32, child *node) {
	n.members = slices.Insert(n.members, at, member)
	if child != nil {
		n.children = slices.Insert(n.children, at, child)
	}
}

// remove removes a member from n, which must already have been copied for this epoch. n may become empty. remove returns
// false if the slot is not a member.
func (n *node) remove(epoch uint64, slot uint32) bool {
	at := n.find(slot)
	if at == len(n.members) || n.children == nil && n.members[at] != slot {
		return false
	}
	if n.children != nil {
		child := n.ownChild(epoch, at)
		if !child.remove(epoch, slot) {
			return false
		}
		if len(child.members) > 0 {
			n.members[at] = child.last()
			return true
		}
		n.children = slices.Delete(n.children, at, at+1)
	}
	n.members = slices.Delete(n.members, at, at+1)
	return true
}

// find returns the index of the first member that is not less than slot. If there is no such member, it returns the
// number of members.
func (n *node) find(slot uint32) int {
	at, _ := slices.BinarySearch(n.members, slot)
	return at
}

func (n *node) last() uint32 { return n.members[len(n.members)-1] }
