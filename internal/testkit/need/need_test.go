package need

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a testing.TB that records whether package need skips or fails the test.
type recorder struct {
	testing.TB
	how string
}

func (t *recorder) Helper() {}
func (t *recorder) Skipf(format string, args ...any) {
	t.how = "skipped: " + fmt.Sprintf(format, args...)
}
func (t *recorder) Fatalf(format string, args ...any) {
	t.how = "failed: " + fmt.Sprintf(format, args...)
}

func TestMissingProgramSkipsLocallyAndFailsInCI(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("LISTWATCH_CI", ci)
		test := &recorder{TB: t}
		require.Empty(t, Program(test, "no-such-program", "install it"))
		require.Equal(t, want+": no-such-program is not installed; install it", test.how)
	}
	test := &recorder{TB: t}
	require.NotEmpty(t, Program(test, "go", "install Go"))
	require.Empty(t, test.how)
}
