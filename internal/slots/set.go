package slots

const runSize = 64

// Set is a sorted set of slots. The zero value is empty. Most sets of an index are small, and many have one member, which
// costs no memory but the Set's own.
type Set struct {
	length uint32
	one    uint32 // the only member, if length is 1
	runs   *runs  // all members, if there are more
}

// runs hold the members of a set in order; no run is empty.
type runs struct {
	epoch uint64
	list  []*run
	lasts []uint32 // the last member of each run, side by side, so that a search need not look into the runs
}

type run struct {
	epoch uint64
	slots []uint32
}

// Len returns the number of members.
func (s *Set) Len() int { return int(s.length) }

// All calls each with every member in order, until it returns false. It returns whether all were seen.
func (s *Set) All(each func(slot uint32) bool) bool {
	switch s.length {
	case 0:
		return true
	case 1:
		return each(s.one)
	}
	for _, r := range s.runs.list {
		for _, slot := range r.slots {
			if !each(slot) {
				return false
			}
		}
	}
	return true
}

// Has reports whether a slot is a member.
func (s *Set) Has(slot uint32) bool {
	if s.length < 2 {
		return s.length == 1 && s.one == slot
	}
	at := s.runs.find(slot)
	if at == len(s.runs.list) {
		return false
	}
	r := s.runs.list[at]
	i := r.find(slot)
	return i < len(r.slots) && r.slots[i] == slot
}

// Insert adds a member, which must not be there.
func (s *Set) Insert(epoch uint64, slot uint32) {
	s.length++
	switch s.length {
	case 1:
		s.one = slot
		return
	case 2:
		s.runs = &runs{epoch: epoch, list: []*run{{epoch: epoch, slots: append(make([]uint32, 0, 4), s.one)}}, lasts: []uint32{s.one}}
	}
	s.own(epoch)
	at := s.runs.find(slot)
	if at == len(s.runs.list) { // behind all: what is added in order fills its runs
		if last := s.runs.list[at-1]; len(last.slots) < runSize {
			at--
		} else {
			s.runs.insert(at, &run{epoch: epoch})
		}
	}
	r := s.runs.own(epoch, at)
	if len(r.slots) == runSize {
		at, r = s.runs.halve(epoch, at, slot)
	}
	i := r.find(slot)
	r.slots = append(r.slots, 0)
	copy(r.slots[i+1:], r.slots[i:])
	r.slots[i] = slot
	s.runs.lasts[at] = r.last()
}

// Remove takes a member out, which must be there.
func (s *Set) Remove(epoch uint64, slot uint32) {
	s.length--
	if s.length == 0 {
		return
	}
	s.own(epoch)
	at := s.runs.find(slot)
	r := s.runs.own(epoch, at)
	i := r.find(slot)
	if r.slots = append(r.slots[:i], r.slots[i+1:]...); len(r.slots) == 0 {
		s.runs.list = append(s.runs.list[:at], s.runs.list[at+1:]...)
		s.runs.lasts = append(s.runs.lasts[:at], s.runs.lasts[at+1:]...)
	} else {
		s.runs.lasts[at] = r.last()
	}
	if s.length == 1 {
		s.one, s.runs = s.runs.list[0].slots[0], nil
	}
}

// own makes the list of runs this epoch's.
func (s *Set) own(epoch uint64) {
	if s.runs.epoch != epoch {
		n := len(s.runs.list) + 2
		s.runs = &runs{epoch: epoch, list: append(make([]*run, 0, n), s.runs.list...), lasts: append(make([]uint32, 0, n), s.runs.lasts...)}
	}
}

// find returns the first run whose last member is not less than a slot; the number of runs if there is none.
func (rs *runs) find(slot uint32) int {
	return search(rs.lasts, slot)
}

// search returns the first place in a sorted slice whose element is not less than a slot.
func search(sorted []uint32, slot uint32) int {
	low, high := 0, len(sorted)
	for low < high {
		if middle := int(uint(low+high) / 2); sorted[middle] < slot {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (rs *runs) own(epoch uint64, at int) *run {
	r := rs.list[at]
	if r.epoch != epoch {
		r = &run{epoch: epoch, slots: append(make([]uint32, 0, len(r.slots)+1), r.slots...)}
		rs.list[at] = r
	}
	return r
}

func (rs *runs) insert(at int, r *run) {
	rs.list = append(rs.list, nil)
	copy(rs.list[at+1:], rs.list[at:])
	rs.list[at] = r
	rs.lasts = append(rs.lasts, 0)
	copy(rs.lasts[at+1:], rs.lasts[at:])
}

// halve splits a full run and returns the half into which a slot belongs, and its place.
func (rs *runs) halve(epoch uint64, at int, slot uint32) (int, *run) {
	low := rs.list[at]
	high := &run{epoch: epoch, slots: append(make([]uint32, 0, runSize), low.slots[runSize/2:]...)}
	low.slots = low.slots[:runSize/2]
	rs.insert(at+1, high)
	rs.lasts[at], rs.lasts[at+1] = low.last(), high.last()
	if slot > low.last() {
		return at + 1, high
	}
	return at, low
}

// find returns where a slot is, or belongs.
func (r *run) find(slot uint32) int { return search(r.slots, slot) }

func (r *run) last() uint32 { return r.slots[len(r.slots)-1] }
