package metrics

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	adapter "github.com/seed-6d2a410a/listwatch/examples/metrics/prometheus"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// gather returns the values of all time series by name and labels. A histogram has two values: count and sum.
func gather(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	series := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			id := "{" + strings.Join(labels, ",") + "}"
			if h := metric.GetHistogram(); h != nil {
				series[family.GetName()+"_count"+id] = float64(h.GetSampleCount())
				series[family.GetName()+"_sum"+id] = h.GetSampleSum()
				continue
			}
			series[family.GetName()+id] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return series
}

func TestPrometheusStream(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	trace, err := adapter.Trace(registry, "pods")
	require.NoError(t, err)
	began := time.Now()
	seen := follow(t, trace, func() string { return phaseOf(t, gather(t, registry), phaseID) })
	require.Equal(t, phases, seen.Phases)
	series := gather(t, registry)
	require.Equal(t, "stopped", phaseOf(t, series, phaseID))
	stopped := take(t, series, "listwatch_phase_start_time_seconds{resource=pods}")
	require.True(t, stopped > seconds(began) && stopped <= seconds(time.Now()), stopped)
	for id := range series {
		for _, secret := range seen.Secrets {
			require.NotContains(t, id, secret)
		}
	}
	require.InDelta(t, 0.8, take(t, series, "listwatch_retry_delay_seconds_sum{resource=pods}"), 1e-6)
	frames := 0.0
	for _, kind := range []string{"ADDED", "BOOKMARK", "ERROR"} {
		size := take(t, series, "listwatch_frame_size_bytes_sum{resource=pods,type="+kind+"}")
		require.Greater(t, size, 0.0)
		frames += size
	}
	require.Greater(t, take(t, series, "listwatch_read_bytes_total{resource=pods}"), frames)
	for _, verb := range []string{"list", "watch"} {
		opening := take(t, series, "listwatch_request_open_duration_seconds_sum{resource=pods,verb="+verb+"}")
		require.True(t, opening > 0 && opening < 60, opening)
	}
	require.Equal(t, map[string]float64{
		"listwatch_requests_total{resource=pods,verb=list}":                          float64(seen.Lists),
		"listwatch_requests_total{resource=pods,verb=watch}":                         float64(seen.Watches),
		"listwatch_request_open_duration_seconds_count{resource=pods,verb=list}":     float64(seen.Lists),
		"listwatch_request_open_duration_seconds_count{resource=pods,verb=watch}":    float64(seen.Watches),
		"listwatch_request_failures_total{cause=forbidden,resource=pods,verb=watch}": 1,
		"listwatch_request_failures_total{cause=expired,resource=pods,verb=list}":    1,
		"listwatch_list_pages_total{resource=pods}":                                  float64(seen.Pages),
		"listwatch_undecoded_total{resource=pods}":                                   0,
		"listwatch_redirects_total{resource=pods}":                                   0,
		"listwatch_lists_total{resource=pods}":                                       2,
		"listwatch_frame_size_bytes_count{resource=pods,type=ADDED}":                 float64(seen.Added + seen.Checked),
		"listwatch_frame_size_bytes_count{resource=pods,type=BOOKMARK}":              float64(seen.Bookmarks),
		"listwatch_frame_size_bytes_count{resource=pods,type=ERROR}":                 1,
		"listwatch_bookmarks_total{resource=pods}":                                   float64(seen.Bookmarks),
		"listwatch_interruptions_total{cause=connection,resource=pods}":              1,
		"listwatch_interruptions_total{cause=expired,resource=pods}":                 2,
		"listwatch_interruptions_total{cause=closed,resource=pods}":                  1,
		"listwatch_interruptions_total{cause=forbidden,resource=pods}":               1,
		"listwatch_relists_total{cause=expired,resource=pods}":                       2,
		"listwatch_retry_delay_seconds_count{resource=pods}":                         5,
		"listwatch_switches_total{cause=unsupported,resource=pods}":                  1,
	}, series, fmt.Sprintf("%+v", seen))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func phaseID(phase string) string { return "listwatch_phase{phase=" + phase + ",resource=pods}" }

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func TestPrometheusShowsRestoredState(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	trace, err := adapter.Trace(registry, "pods")
	require.NoError(t, err)
	phases := restored(t, trace, func() string { return phaseOf(t, gather(t, registry), phaseID) })
	require.Equal(t, []string{"stale", "stopped", "stale", "stale", "live", "stopped"}, phases, "a check and a watch follow the restored state")
}

func TestPrometheusSeparatesResources(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	pods, err := adapter.Trace(registry, "pods")
	require.NoError(t, err)
	_, err = adapter.Trace(registry, "nodes")
	require.NoError(t, err)
	pods.Event(lw.Event[lw.Keyed]{Type: lw.WatchStarted})
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP listwatch_phase 1 for the current phase of the stream, otherwise 0. The state is current in the phase live.
# TYPE listwatch_phase gauge
listwatch_phase{phase="waiting",resource="nodes"} 1
listwatch_phase{phase="listing",resource="nodes"} 0
listwatch_phase{phase="live",resource="nodes"} 0
listwatch_phase{phase="stale",resource="nodes"} 0
listwatch_phase{phase="stopped",resource="nodes"} 0
listwatch_phase{phase="waiting",resource="pods"} 0
listwatch_phase{phase="listing",resource="pods"} 0
listwatch_phase{phase="live",resource="pods"} 1
listwatch_phase{phase="stale",resource="pods"} 0
listwatch_phase{phase="stopped",resource="pods"} 0
`), "listwatch_phase"))
	_, err = adapter.Trace(registry, "pods")
	require.ErrorAs(t, err, &prometheus.AlreadyRegisteredError{})
}

func TestPrometheusUsesEveryHook(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	trace, err := adapter.Trace(registry, "pods")
	require.NoError(t, err)
	for hook, value := range reflect.ValueOf(*trace).Fields() {
		require.False(t, value.IsNil(), hook.Name)
	}
	trace.Event(lw.Event[lw.Keyed]{Type: lw.DecodeFailed})
	trace.Redirected("https://k8s.example:443")
	require.Equal(t, 1.0, gather(t, registry)["listwatch_undecoded_total{resource=pods}"])
	require.Equal(t, 1.0, gather(t, registry)["listwatch_redirects_total{resource=pods}"])
}

func TestPrometheusRecordsNoDelayAfterFinalInterruption(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	trace, err := adapter.Trace(registry, "pods")
	require.NoError(t, err)
	trace.Event(lw.Event[lw.Keyed]{Type: lw.WatchStarted})
	trace.Event(lw.Event[lw.Keyed]{Type: lw.Interrupted, Interruption: &lw.Interruption{Err: lw.ErrWatchClosed, Final: true}})
	series := gather(t, registry)
	require.Equal(t, "stopped", phaseOf(t, series, phaseID))
	require.Zero(t, series["listwatch_retry_delay_seconds_count{resource=pods}"])
	require.Equal(t, 1.0, series["listwatch_interruptions_total{cause=closed,resource=pods}"])
}
