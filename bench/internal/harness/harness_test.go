package harness

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuantiles(t *testing.T) {
	require.Zero(t, Median(nil))
	require.Equal(t, 3.0, Median([]float64{5, 1, 3}))
	require.Equal(t, 3.0, Median([]float64{1, 3}), "the median of two values must be the larger value")
	require.Equal(t, 9.0, Quantile([]float64{0, 9, 2, 3, 4, 5, 6, 7, 8, 1}, 0.99))
	require.Equal(t, 2.0, MedianOf([]string{"a", "bb", "ccc"}, func(s string) float64 { return float64(len(s)) }))
}

func TestRoundsAlternateItems(t *testing.T) {
	var order strings.Builder
	measure := func(item string) error {
		order.WriteString(item)
		return nil
	}
	name := func(item string) string { return item }
	require.NoError(t, Rounds(2, []string{"a", "b"}, name, measure))
	require.Equal(t, "abab", order.String())
	err := Rounds(2, []string{"a"}, name, func(string) error { return errors.New("broken") })
	require.EqualError(t, err, "a: broken")
}

func TestTablesAlignTheirColumns(t *testing.T) {
	var printed strings.Builder
	table := NewTable(&printed, "name\tvalue")
	table.Row("%s\t%.1f", "long name", 1.25)
	require.NoError(t, table.Flush())
	require.Equal(t, "name       value\nlong name  1.2\n", printed.String())
}

func TestWorkIgnoresOtherArguments(t *testing.T) {
	require.False(t, Work(Worker("role", func(int) int { panic("not this process") })))
}

// TestMain also runs the roles of TestProcesses in worker processes.
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
