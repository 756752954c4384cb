package workqueue

import "container/heap"

// delays holds the delayed keys, ordered by due time.
type delays[K comparable] struct {
	heap     []*entry[K]
	sequence uint64
}

// set sets the due time of a key. It returns false if the key already has the same or an earlier due time.
func (d *delays[K]) set(e *entry[K], due offset) bool {
	if e.delayed && due >= e.due {
		return false
	}
	d.sequence++
	e.due, e.sequence = due, d.sequence
	if e.delayed {
		heap.Fix(d, e.index)
		return true
	}
	e.delayed = true
	heap.Push(d, e)
	return true
}

func (d *delays[K]) pop() *entry[K] {
	e := heap.Pop(d).(*entry[K])
	e.delayed = false
	return e
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (d *delays[K]) Len() int { return len(d.heap) }

func (d *delays[K]) Less(i, j int) bool {
	a, b := d.heap[i], d.heap[j]
	return a.due < b.due || a.due == b.due && a.sequence < b.sequence
}

func (d *delays[K]) Swap(i, j int) {
	d.heap[i], d.heap[j] = d.heap[j], d.heap[i]
	d.heap[i].index, d.heap[j].index = i, j
}

func (d *delays[K]) Push(e any) {
	e.(*entry[K]).index = len(d.heap)
	d.heap = append(d.heap, e.(*entry[K]))
}

func (d *delays[K]) Pop() any {
	last := len(d.heap) - 1
	e := d.heap[last]
	d.heap[last] = nil
	d.heap = d.heap[:last]
	return e
}
