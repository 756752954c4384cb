package plot

import (
	"math"
	"slices"
	"strconv"
)

// scale leads from values to places.
type scale struct {
	min, max float64 // values
	linear   bool
	steps    []float64 // where the ticks of each decade are, if not linear
	from, to float64   // places
}

// scale returns one that holds the values that the axis can show.
func (a Axis) scale(values []float64) scale {
	s := scale{linear: a.Linear}
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !s.shows(v) })
	for _, bound := range []float64{a.Min, a.Max} {
		if bound != 0 {
			values = append(values, bound)
		}
	}
	if a.Linear {
		values = append(values, 0)
	}
	if len(values) == 0 {
		values = []float64{1}
	}
	s.min, s.max = slices.Min(values), slices.Max(values)
	switch {
	case s.min < s.max:
	case a.Linear:
		s.max = s.min + 1
	default:
		s.min, s.max = s.min/2, s.max*2
	}
	s.steps = steps(math.Log10(s.max / s.min))
	return s
}

// shows reports whether a value has a place.
func (s scale) shows(value float64) bool {
	return !math.IsNaN(value) && !math.IsInf(value, 0) && (s.linear || value > 0)
}

func (s scale) place(value float64) float64 {
	share := (value - s.min) / (s.max - s.min)
	if !s.linear {
		share = math.Log(value/s.min) / math.Log(s.max/s.min)
	}
	return s.from + share*(s.to-s.from)
}

// round widens a scale so that it begins and ends at a tick.
func (s *scale) round() {
	if s.linear {
		step := s.step(5)
		s.max = math.Ceil(s.max/step-1e-9) * step
		return
	}
	s.min, s.max = below(s.min, s.steps), above(s.max, s.steps)
}

// ticks returns the values to be labelled, about so many at most.
func (s scale) ticks(most int) (values []float64) {
	if s.linear {
		step := s.step(most)
		for i := 0.0; i*step <= s.max*(1+1e-9); i++ {
			values = append(values, i*step)
		}
		return values
	}
	decades := math.Log10(s.max / s.min)
	every := max(1, int(math.Ceil(decades/float64(max(most, 1)))))
	for exponent := math.Floor(math.Log10(s.min)); exponent <= math.Log10(s.max)+1e-9; exponent++ {
		for _, step := range s.steps {
			value := step * math.Pow(10, exponent)
			if value >= s.min*(1-1e-9) && value <= s.max*(1+1e-9) && int(exponent)%every == 0 {
				values = append(values, value)
			}
		}
	}
	return values
}

// steps are fewer, the more decades there are.
func steps(decades float64) []float64 {
	switch {
	case decades <= 1.5:
		return []float64{1, 2, 5}
	case decades <= 2.2:
		return []float64{1, 3}
	}
	return []float64{1}
}

// step is the distance of linear ticks: 1, 2 or 5 times a power of ten.
func (s scale) step(most int) float64 {
	least := s.max / float64(max(most, 1))
	return above(least, []float64{1, 2, 5})
}

// below returns the last tick that is not above a value.
func below(value float64, steps []float64) float64 {
	for exponent := math.Floor(math.Log10(value)); ; exponent-- {
		for _, step := range slices.Backward(steps) {
			if tick := step * math.Pow(10, exponent); tick <= value*(1+1e-9) {
				return tick
			}
		}
	}
}

// above returns the first tick that is not below a value.
func above(value float64, steps []float64) float64 {
	for exponent := math.Floor(math.Log10(value)); ; exponent++ {
		for _, step := range steps {
			if tick := step * math.Pow(10, exponent); tick >= value*(1-1e-9) {
				return tick
			}
		}
	}
}

// Unit says what an axis' values are.
type Unit int

// The units.
const (
	Count Unit = iota
	Nanoseconds
	Bytes
	Share // of one, shown in percent
)

var prefixes = map[Unit][]string{
	Count:       {"", "k", "M", "G"},
	Nanoseconds: {" ns", " µs", " ms", " s"},
	Bytes:       {" B", " kB", " MB", " GB"},
}

// Format returns a value with its unit, as 20 µs; what is below one of the smallest unit keeps its decimals.
func (u Unit) Format(value float64) string {
	if u == Share {
		return number(value*100) + " %"
	}
	names := prefixes[u]
	if value == 0 && u == Count {
		return "0"
	}
	for i, name := range names {
		if scaled := value / math.Pow(1000, float64(i)); scaled < 999.5 || i == len(names)-1 {
			return number(scaled) + name
		}
	}
	return number(value)
}

func number(value float64) string {
	return strconv.FormatFloat(value, 'g', 3, 64)
}
