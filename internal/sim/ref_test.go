package sim

import "testing"

func TestReferenceEngine(t *testing.T) {
	first, n := env(t, "FIRST", 0), env(t, "REF", 1000)
	bad := map[string]int{}
	for seed := first; seed < first+n; seed++ {
		if r := play(t, seed, reference{}.engine); r.Failure != nil {
			b := r.Failure.(*Broken)
			if bad[b.Promise]++; bad[b.Promise] <= 3 {
				t.Errorf("seed %d: %v", seed, r.Failure)
			}
			if n == 1 {
				t.Log(r.Trace)
			}
		}
	}
	t.Log(bad)
}
