package main

// series is what one unit of some work costs, by how much there is of something.
type series struct{ points []point } // by ascending input

type point struct {
	input   float64
	cost    float64 // of a unit
	touches float64 // how many places in memory a unit has to fetch at most, where what there is fits into no cache
	machine float64 // what one of these takes, in the unit of cost: grows as caches do not
}

// noise is what two measurements of the same may differ by on a machine that others use, too.
const noise = 1.3

// verdict says whether a cost grows with the input, and how it was found.
type verdict struct {
	growth  float64 // from the smallest input to the largest
	allowed float64 // the most that the largest may cost
	holds   bool
}

// judge holds the largest input's cost against those of all smaller ones: it may be above none by more than noise and what
// the machine itself takes longer for the places that are touched. A cost that grows with the input's logarithm passes
// where caches explain it, and one that grows with its root does not.
func (s series) judge() verdict {
	if len(s.points) < 2 {
		return verdict{growth: 1, holds: true}
	}
	last := s.points[len(s.points)-1]
	v := verdict{growth: last.cost / s.points[0].cost}
	for i, smaller := range s.points[:len(s.points)-1] {
		allowed := noise*smaller.cost + last.touches*max(last.machine-smaller.machine, 0)
		if i == 0 || allowed < v.allowed {
			v.allowed = allowed
		}
	}
	v.holds = last.cost <= v.allowed
	return v
}
