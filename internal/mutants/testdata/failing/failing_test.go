package failing

import "testing"

func TestSum(t *testing.T) {
	if Sum(1, 1) != 3 {
		t.Fatal("it is not 3")
	}
}
