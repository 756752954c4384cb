package harness

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedians(t *testing.T) {
	require.Equal(t, 3.0, Median([]float64{5, 1, 3}))
	require.Equal(t, 3.0, Median([]float64{1, 3}), "the median of two values must be the larger value")
}

func TestCompareAlternatesContenders(t *testing.T) {
	var order strings.Builder
	found, err := Compare(2, []string{"a", "b"}, func(contender string) (Figures, error) {
		order.WriteString(contender)
		return Figures{"length": float64(order.Len())}, nil
	})
	require.NoError(t, err)
	require.Equal(t, "abab", order.String())
	require.Equal(t, []float64{2, 4}, found.Get("length", "b"))
	require.Equal(t, []float64{4}, Medians(found).Get("length", "b"))
	_, err = Compare(2, []string{"a"}, func(string) (Figures, error) { return nil, errors.New("broken") })
	require.EqualError(t, err, "a: broken")
}

func TestWorkIgnoresOtherArguments(t *testing.T) {
	require.False(t, Work(Worker("role", func(int) int { panic("not this process") })))
}

// TestMain also runs the roles that TestProcesses needs in worker processes.
func TestMain(m *testing.M) {
	double := Worker("double", func(n int) int { return 2 * n })
	server := Server("server", func(name string) string { return "address of " + name })
	if !Work(double, server) {
		os.Exit(m.Run())
	}
}

func TestProcesses(t *testing.T) {
	var doubled int
	require.NoError(t, Run(t.Context(), "double", 21, &doubled))
	require.Equal(t, 42, doubled)
	require.Error(t, Run(t.Context(), "double", "not a number", &doubled))

	var address string
	stop, err := Serve(t.Context(), "server", "it", &address)
	require.NoError(t, err)
	require.Equal(t, "address of it", address)
	stop()
}
