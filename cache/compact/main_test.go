package compact

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
