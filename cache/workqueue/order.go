package workqueue

import "cmp"

// delays is a heap of the delayed keys, ordered by due time. It implements heap.Interface.
type delays[K comparable] []*entry[K]

func (d delays[K]) Len() int { return len(d) }

func (d delays[K]) Less(i, j int) bool {
	return cmp.Or(d[i].due.Compare(d[j].due), cmp.Compare(d[i].sequence, d[j].sequence)) < 0
}

func (d delays[K]) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

func (d *delays[K]) Push(e any) {
	e.(*entry[K]).index = len(*d)
	*d = append(*d, e.(*entry[K]))
}

func (d *delays[K]) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last] = nil // lets the garbage collector free the entry
	*d = (*d)[:last]
	return e
}
