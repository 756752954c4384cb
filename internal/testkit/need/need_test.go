package need

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// told is a test that notes how it ended.
type told struct {
	testing.TB
	how string
}

func (t *told) Helper()                           {}
func (t *told) Skipf(format string, args ...any)  { t.how = "skipped: " + fmt.Sprintf(format, args...) }
func (t *told) Fatalf(format string, args ...any) { t.how = "failed: " + fmt.Sprintf(format, args...) }

func TestWhatIsMissingFailsWhereNothingMay(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("LISTWATCH_CI", ci)
		test := &told{TB: t}
		require.Empty(t, Program(test, "no-such-program", "nobody has it"))
		require.Equal(t, want+": there is no no-such-program; nobody has it", test.how)
	}
	test := &told{TB: t}
	require.NotEmpty(t, Program(test, "go", "how is this run?"))
	require.Empty(t, test.how)
}
