package slots

// pageSize is the maximum number of entries in a page. Pages are small, because a search scans a whole page, and the
// first write to a page after a snapshot copies the page.
const pageSize = 32

// Table maps hashes to slots. It does not store keys, so callers compare the keys of the candidate slots. The zero
// value is empty.
//
// Table is an extendible hash table. Its directory maps the first bits of a hash to a page of entries. When a page is
// full, Table splits it into two pages. If the page already uses all bits of the directory, Table first doubles the
// directory. Splitting cannot separate equal hashes. Therefore, if the directory is already large for the number of
// entries, the full page gets an overflow page instead.
type Table struct {
	directory array[page]
	depth     uint8 // number of leading hash bits that the directory uses
	length    int   // number of entries
}

type page struct {
	epoch  uint64
	next   *page // overflow page, or nil
	depth  uint8 // number of leading bits that all hashes of the page share
	length uint8
	hashes [pageSize]uint32
	slots  [pageSize]uint32
}

// Find calls accept for each slot with this hash until accept returns true, and returns that slot. ok is false if
// accept never returns true.
func (t *Table) Find(hash uint32, accept func(slot uint32) bool) (slot uint32, ok bool) {
	for p := t.directory.get(t.at(hash)); p != nil; p = p.next {
		for i, h := range p.hashes[:p.length] {
			if h == hash && accept(p.slots[i]) {
				return p.slots[i], true
			}
		}
	}
	return 0, false
}

// at returns the directory index of a hash.
func (t *Table) at(hash uint32) uint32 { return uint32(uint64(hash) >> (32 - t.depth)) }

// Insert adds an entry. The table must not contain the same hash and slot.
func (t *Table) Insert(epoch uint64, hash, slot uint32) {
	t.length++
	if t.directory.get(0) == nil {
		t.directory.set(epoch, 0, &page{epoch: epoch})
	}
	for {
		p := t.page(epoch, t.at(hash))
		if p.length < pageSize || p.depth == t.depth && !t.canDouble() {
			p.add(epoch, hash, slot)
			return
		}
		t.split(epoch, hash, p)
	}
}

// canDouble reports whether the directory may become twice as large. This is so if it has at most one index for every
// four entries. Without this limit, many equal hashes could double the directory again and again.
func (t *Table) canDouble() bool { return 4<<t.depth <= t.length }

// Remove removes an entry, which must exist.
func (t *Table) Remove(epoch uint64, hash, slot uint32) {
	t.length--
	for p := t.page(epoch, t.at(hash)); ; p = p.ownNext(epoch) {
		for i, s := range p.slots[:p.length] {
			if s == slot && p.hashes[i] == hash {
				p.length--
				p.hashes[i], p.slots[i] = p.hashes[p.length], p.slots[p.length]
				return
			}
		}
	}
}

// page returns the page at a directory index, ready for modification. If the page is from an earlier epoch, it is first
// replaced with a copy at all its directory indexes.
func (t *Table) page(epoch uint64, at uint32) *page {
	p := t.directory.get(at)
	if p.epoch != epoch {
		p = p.copy(epoch)
		t.place(epoch, at, p)
	}
	return p
}

// place stores a page at a directory index, and at all other indexes that share the first p.depth bits.
func (t *Table) place(epoch uint64, at uint32, p *page) {
	n := uint32(1) << (t.depth - p.depth)
	first := at &^ (n - 1)
	for i := first; i < first+n; i++ {
		t.directory.set(epoch, i, p)
	}
}

func (p *page) copy(epoch uint64) *page {
	c := *p
	c.epoch = epoch
	return &c
}

// ownNext returns the overflow page of p, ready for modification. It replaces a page from an earlier epoch with a copy.
func (p *page) ownNext(epoch uint64) *page {
	if p.next.epoch != epoch {
		p.next = p.next.copy(epoch)
	}
	return p.next
}

// add adds an entry to p, or to an overflow page if p is full. p must already have been copied for this epoch.
func (p *page) add(epoch uint64, hash, slot uint32) {
	for p.length == pageSize {
		if p.next == nil {
			p.next = &page{epoch: epoch}
		}
		p = p.ownNext(epoch)
	}
	p.hashes[p.length], p.slots[p.length] = hash, slot
	p.length++
}

// split distributes the entries of a full page over two pages. The next bit of an entry's hash selects its page.
func (t *Table) split(epoch uint64, hash uint32, p *page) {
	if p.depth == t.depth {
		t.double(epoch)
	}
	halves := [2]*page{{epoch: epoch, depth: p.depth + 1}, {epoch: epoch, depth: p.depth + 1}}
	for from := p; from != nil; from = from.next {
		for i, h := range from.hashes[:from.length] {
			halves[h>>(31-p.depth)&1].add(epoch, h, from.slots[i])
		}
	}
	n := uint32(1) << (t.depth - p.depth - 1)
	first := t.at(hash) &^ (2*n - 1)
	t.place(epoch, first, halves[0])
	t.place(epoch, first+n, halves[1])
}

// double makes the directory twice as large, so that it uses one more bit of each hash.
func (t *Table) double(epoch uint64) {
	old, size := t.directory, uint32(1)<<t.depth
	t.directory = array[page]{}
	t.depth++
	for i := range 2 * size {
		t.directory.set(epoch, i, old.get(i/2))
	}
}
