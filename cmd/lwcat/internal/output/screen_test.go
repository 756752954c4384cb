package output

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func screen(t *testing.T, spec string, opts *Options) *Screen {
	t.Helper()
	opts.States = true
	format, err := New(spec, opts)
	require.NoError(t, err)
	s, err := NewScreen(format, opts)
	require.NoError(t, err)
	return s
}

func TestScreen(t *testing.T) {
	s := screen(t, "line", &Options{})
	show := func(after time.Duration, width, height int) string {
		return strings.Join(s.Lines(noon.Add(after), width, height), "\n")
	}
	const bare = `{"kind":"ConfigMap","metadata":{"name":"x","namespace":"a","creationTimestamp":"2026-11-21T11:59:00Z"}}`
	require.Equal(t, "0 objects at 12:00:00", show(0, 80, 10))
	for _, e := range []*Event{added(t, "pods", web0), added(t, "configmaps", bare), modified(t, "pods", web0, web0Runs)} {
		s.Print(nil, e)
	}
	require.Equal(t, `2 objects at 12:00:01
  KIND        OBJECT       AGE   STATE
+ ConfigMap   a/x          61s
~ Pod         shop/web-0         Running`, show(time.Second, 80, 10))

	gone := deleted(t, "configmaps", bare)
	gone.Time = noon.Add(4 * time.Second)
	s.Print(nil, gone)
	require.Equal(t, `1 object at 12:00:05
  KIND        OBJECT       AGE   STATE
- ConfigMap   a/x          65s
  Pod         shop/web-0         Running`, show(5*time.Second, 80, 10))

	s.Tell("lwcat: pods: broken\n")
	require.Equal(t, `1 object at 12:00:10
  KIND   OBJECT       AGE   STATE
  Pod    shop/web-0         Running
lwcat: pods: broken`, show(10*time.Second, 80, 10))
	require.Equal(t, "1 object at\n  … 2 more \nlwcat: pods", show(10*time.Second, 11, 3))
	for height := range 5 {
		require.LessOrEqual(t, len(s.Lines(noon, 80, height)), max(1, height))
	}
}

// TestScreenOfSeveralResources checks that each set of columns has its own headers.
func TestScreenOfSeveralResources(t *testing.T) {
	s := screen(t, "wide", &Options{Color: true})
	pod, deploy := added(t, "pods", web0), deleted(t, "deployments.apps", webster)
	pod.Row = &Row{Columns: []string{"Name", "Ready"}, Cells: `["web-0",1]`}
	s.Print(nil, pod)
	s.Print(nil, deploy)
	require.Equal(t, []string{
		"1 object at 12:00:00",
		"  NAME                       AGE",
		"\x1b[31m- webster-with-a-long-name\x1b[0m",
		"  NAME    READY",
		"\x1b[32m+ web-0   1\x1b[0m",
	}, s.Lines(noon, 80, 10))
}

// TestScreenUpdatesAges checks ages that the server sent once.
func TestScreenUpdatesAges(t *testing.T) {
	s := screen(t, "wide", &Options{})
	e := added(t, "pods", `{"metadata":{"name":"x","creationTimestamp":"2026-11-21T11:59:55Z"}}`)
	e.Row = &Row{Columns: []string{"Name", "Age"}, Cells: `["x","5s"]`}
	s.Print(nil, e)
	require.Equal(t, "+ x      7s", s.Lines(noon.Add(2*time.Second), 80, 9)[2])
}

func TestScreenRequiresTable(t *testing.T) {
	format, err := New("jsonl", &Options{})
	require.NoError(t, err)
	_, err = NewScreen(format, &Options{})
	require.ErrorContains(t, err, "--redraw needs -o line, wide or custom-columns")
}
