package waiting

import "testing"

func TestWait(t *testing.T) { Wait() }
