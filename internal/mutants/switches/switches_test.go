package switches

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOperations of the mutants 7 and 8: what stands in the source, and what each makes of it.
func TestOperations(t *testing.T) {
	type all = [3][]any // with none on, with the first, with the second
	for name, test := range map[string]struct {
		do   func() []any
		want all
	}{
		"Not":            {either(func(b bool) bool { return Not(7, b) }), all{{true, false}, {false, true}, {true, false}}},
		"And":            {either(func(b bool) bool { return And(7, true, func() bool { return b }) }), all{{true, false}, {true, true}, {true, false}}},
		"Or":             {either(func(b bool) bool { return Or(7, false, func() bool { return b }) }), all{{true, false}, {false, false}, {true, false}}},
		"Less":           {compared(Less[int]), all{{true, false, false}, {true, true, false}, {false, true, true}}},
		"LessOrEqual":    {compared(LessOrEqual[int]), all{{true, true, false}, {true, false, false}, {false, false, true}}},
		"Greater":        {compared(Greater[int]), all{{false, false, true}, {false, true, true}, {true, true, false}}},
		"GreaterOrEqual": {compared(GreaterOrEqual[int]), all{{false, true, true}, {false, false, true}, {true, false, false}}},
		"Add":            {of(Add[int], 6, 3), all{{9}, {3}, {9}}},
		"Sub":            {of(Sub[int], 6, 3), all{{3}, {9}, {3}}},
		"Mul":            {of(Mul[int], 6, 3), all{{18}, {2}, {18}}},
		"Div":            {of(Div[int], 6, 3), all{{2}, {18}, {2}}},
		"Rem":            {of(Rem[int], 7, 3), all{{1}, {21}, {1}}},
		"BitAnd":         {of(BitAnd[int], 6, 3), all{{2}, {7}, {2}}},
		"BitOr":          {of(BitOr[int], 6, 3), all{{7}, {2}, {7}}},
		"BitXor":         {of(BitXor[int], 6, 3), all{{5}, {2}, {5}}},
		"BitClear":       {of(BitClear[int], 6, 3), all{{4}, {2}, {4}}},
		"ShiftLeft":      {of(ShiftLeft[int, int], 6, 1), all{{12}, {3}, {12}}},
		"ShiftRight":     {of(ShiftRight[int, int], 6, 1), all{{3}, {12}, {3}}},
		"Neg":            {func() []any { return []any{Neg(7, 2)} }, all{{-2}, {2}, {-2}}},
		"One":            {func() []any { return []any{One[int](7)} }, all{{1}, {-1}, {1}}},
	} {
		for i, mutant := range []int{0, 7, 8} {
			on = mutant
			require.Equal(t, test.want[i], test.do(), "%s with %d", name, mutant)
		}
	}
	on = 0
}

// either asks about true and false.
func either(op func(bool) bool) func() []any {
	return func() []any { return []any{op(true), op(false)} }
}

// compared asks about less, equal and greater.
func compared(op func(mutant, a, b int) bool) func() []any {
	return func() []any { return []any{op(7, 1, 2), op(7, 2, 2), op(7, 3, 2)} }
}

func of(op func(mutant, a, b int) int, a, b int) func() []any {
	return func() []any { return []any{op(7, a, b)} }
}

// TestTheSecondIsAskedForOnlyWhenItIsNeeded, as in the source.
func TestTheSecondIsAskedForOnlyWhenItIsNeeded(t *testing.T) {
	never := func() bool { panic("asked") }
	require.False(t, And(7, false, never))
	require.True(t, Or(7, true, never))
}
