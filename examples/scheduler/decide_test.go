package scheduler

import (
	"math"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func object(t *testing.T, text string) *lw.Object {
	t.Helper()
	o, err := lw.ParseObject([]byte(text))
	require.NoError(t, err)
	return o
}

func TestChoosesNode(t *testing.T) {
	unequal := map[string]*Node{"a": {10, 0, 2}, "b": {10, 9, 1}, "c": {10, 0, 3}}
	for name, c := range map[string]struct {
		nodes map[string]*Node
		cpu   int64
		want  string
	}{
		"no nodes":                         {nil, 0, ""},
		"fewest Pods":                      {unequal, 1, "b"},
		"enough CPU":                       {unequal, 2, "a"},
		"nodes with equal numbers of Pods": {map[string]*Node{"b": {10, 0, 1}, "a": {10, 0, 1}}, 1, "a"},
		"Pod that fills the node":          {map[string]*Node{"a": {10, 4, 0}}, 6, "a"},
		"Pod that does not fit":            {map[string]*Node{"a": {10, 4, 0}}, 7, ""},
		"Pod without a request on an overcommitted node": {map[string]*Node{"a": {10, 11, 0}}, 0, ""},
	} {
		got, ok := Choose(c.nodes, c.cpu)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.want != "", ok, name)
	}
}

func TestParsesCPUQuantities(t *testing.T) {
	for quantity, want := range map[string]int64{
		"": 0, "x": 0, "m": 0, "0": 0, "100m": 100, "1": 1000, "0.1": 100, "1.5": 1500, "2k": 2_000_000, "1u": 1, "1500u": 2, "1n": 1, "5mm": 0,
	} {
		require.Equal(t, want, thousandths(quantity), quantity)
	}
}

func TestSelectsPods(t *testing.T) {
	for text, want := range map[string][2]bool{ // expected results of wantsNode and occupiesNode
		`{"spec":{}}`:                                                  {true, false},
		`{"spec":{"schedulingGates":[]}}`:                              {true, false},
		`{"spec":{"schedulingGates":[{"name":"g"}]}}`:                  {false, false},
		`{"spec":{"nodeName":"n"}}`:                                    {false, true},
		`{"spec":{"nodeName":"n"},"status":{"phase":"Running"}}`:       {false, true},
		`{"spec":{"nodeName":"n"},"status":{"phase":"Succeeded"}}`:     {false, false},
		`{"spec":{},"status":{"phase":"Failed"}}`:                      {false, false},
		`{"metadata":{"deletionTimestamp":"t"},"spec":{}}`:             {false, false},
		`{"metadata":{"deletionTimestamp":"t"},"spec":{"nodeName":1}}`: {false, true},
	} {
		o := object(t, text)
		require.Equal(t, want, [2]bool{wantsNode(o), occupiesNode(o)}, text)
	}
}

func TestSelectsNodes(t *testing.T) {
	const ready = `"status":{"conditions":[{"type":"DiskPressure","status":"False"},{"type":"Ready","status":"True"}]}`
	for text, want := range map[string]bool{
		`{}`:              false,
		`{` + ready + `}`: true,
		`{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`:         false,
		`{"spec":{"unschedulable":true},` + ready + `}`:                           false,
		`{"spec":{"taints":[{"effect":"NoSchedule"}]},` + ready + `}`:             false,
		`{"spec":{"taints":[{"effect":"PreferNoSchedule"}]},` + ready + `}`:       true,
		`{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]},` + ready + `}`:    false,
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},` + ready + `}`: false,
	} {
		require.Equal(t, want, isUsable(object(t, text)), text)
	}
	require.EqualValues(t, 1500, cpuOf(object(t, `{"status":{"allocatable":{"cpu":"1500m"}}}`)))
	require.Equal(t, int64(math.MaxInt64/2), cpuOf(object(t, `{}`)))
	require.EqualValues(t, 350, requested(object(t, `{"spec":{"containers":[{"resources":{"requests":{"cpu":"100m"}}},{},{"resources":{"requests":{"cpu":"0.25"}}}]}}`)))
}
