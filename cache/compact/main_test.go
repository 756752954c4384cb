package compact

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

// TestMain fails the package if its tests leave goroutines behind, for example goroutines of an unclosed compressor.
func TestMain(m *testing.M) { leak.Main(m) }
