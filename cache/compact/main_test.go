package compact

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

// TestMain fails the package if its tests leave goroutines behind, as a compressor that is not closed might.
func TestMain(m *testing.M) { leak.Main(m) }
