package metrics

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/seed-6d2a410a/listwatch/examples/metrics/otel"
	"github.com/seed-6d2a410a/listwatch/lw"
)

func meter(reader sdk.Reader) metric.Meter {
	return sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("listwatch")
}

// collect returns the values of all time series by name, unit and attributes. A histogram has two values: count and
// sum.
func collect(t *testing.T, reader sdk.Reader) map[string]float64 {
	t.Helper()
	var metrics metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &metrics))
	require.Len(t, metrics.ScopeMetrics, 1)
	series := map[string]float64{}
	for _, m := range metrics.ScopeMetrics[0].Metrics {
		require.NotEmpty(t, m.Description, m.Name)
		flatten(t, series, m)
	}
	return series
}

func flatten(t *testing.T, series map[string]float64, m metricdata.Metrics) {
	t.Helper()
	id := func(of string, attrs attribute.Set) string {
		return m.Name + of + " " + m.Unit + " " + attrs.Encoded(attribute.DefaultEncoder())
	}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		require.Equal(t, m.Name != "listwatch.state.phase", data.IsMonotonic, m.Name)
		for _, point := range data.DataPoints {
			series[id("", point.Attributes)] = float64(point.Value)
		}
	case metricdata.Gauge[float64]:
		for _, point := range data.DataPoints {
			series[id("", point.Attributes)] = point.Value
		}
	case metricdata.Histogram[int64]:
		for _, point := range data.DataPoints {
			series[id(":count", point.Attributes)], series[id(":sum", point.Attributes)] = float64(point.Count), float64(point.Sum)
		}
	case metricdata.Histogram[float64]:
		for _, point := range data.DataPoints {
			series[id(":count", point.Attributes)], series[id(":sum", point.Attributes)] = float64(point.Count), point.Sum
		}
	default:
		require.Fail(t, "unknown type of metric data", "%s: %T", m.Name, data)
	}
}

func TestOTelStream(t *testing.T) {
	reader := sdk.NewManualReader()
	trace, err := otel.Trace(meter(reader), "pods")
	require.NoError(t, err)
	began := time.Now()
	seen := follow(t, trace, func() string { return phaseOf(t, collect(t, reader), phaseAttributes) })
	require.Equal(t, phases, seen.Phases)
	series := collect(t, reader)
	require.Equal(t, "stopped", phaseOf(t, series, phaseAttributes))
	age := take(t, series, "listwatch.state.age s listwatch.resource=pods")
	require.True(t, age > 0 && age < time.Since(began).Seconds(), age)
	for id := range series {
		for _, secret := range seen.Secrets {
			require.NotContains(t, id, secret)
		}
	}
	require.InDelta(t, 0.8, take(t, series, "listwatch.retry.delay:sum s listwatch.resource=pods"), 1e-6)
	frames := 0.0
	for _, kind := range []string{"ADDED", "BOOKMARK", "ERROR"} {
		size := take(t, series, "listwatch.frame.size:sum By listwatch.event.type="+kind+",listwatch.resource=pods")
		require.Greater(t, size, 0.0)
		frames += size
	}
	require.Greater(t, take(t, series, "listwatch.read.io By listwatch.resource=pods"), frames)
	for _, attrs := range []string{"listwatch.resource=pods,listwatch.verb=list", "listwatch.resource=pods,listwatch.verb=watch",
		"error.type=expired,listwatch.resource=pods,listwatch.verb=list", "error.type=forbidden,listwatch.resource=pods,listwatch.verb=watch"} {
		opening := take(t, series, "listwatch.request.open.duration:sum s "+attrs)
		require.True(t, opening > 0 && opening < 60, opening)
	}
	require.Equal(t, map[string]float64{
		"listwatch.request.open.duration:count s listwatch.resource=pods,listwatch.verb=list":                       float64(seen.Lists - 1),
		"listwatch.request.open.duration:count s error.type=expired,listwatch.resource=pods,listwatch.verb=list":    1,
		"listwatch.request.open.duration:count s listwatch.resource=pods,listwatch.verb=watch":                      float64(seen.Watches - 1),
		"listwatch.request.open.duration:count s error.type=forbidden,listwatch.resource=pods,listwatch.verb=watch": 1,
		"listwatch.list.pages {page} listwatch.resource=pods":                                                       float64(seen.Pages),
		"listwatch.lists {list} listwatch.resource=pods":                                                            2,
		"listwatch.frame.size:count By listwatch.event.type=ADDED,listwatch.resource=pods":                          float64(seen.Added + seen.Checked),
		"listwatch.frame.size:count By listwatch.event.type=BOOKMARK,listwatch.resource=pods":                       float64(seen.Bookmarks),
		"listwatch.frame.size:count By listwatch.event.type=ERROR,listwatch.resource=pods":                          1,
		"listwatch.bookmarks {bookmark} listwatch.resource=pods":                                                    float64(seen.Bookmarks),
		"listwatch.interruptions {interruption} listwatch.cause=connection,listwatch.resource=pods":                 1,
		"listwatch.interruptions {interruption} listwatch.cause=expired,listwatch.resource=pods":                    2,
		"listwatch.interruptions {interruption} listwatch.cause=closed,listwatch.resource=pods":                     1,
		"listwatch.interruptions {interruption} listwatch.cause=forbidden,listwatch.resource=pods":                  1,
		"listwatch.relists {relist} listwatch.cause=expired,listwatch.resource=pods":                                2,
		"listwatch.retry.delay:count s listwatch.resource=pods":                                                     5,
		"listwatch.switches {switch} listwatch.cause=unsupported,listwatch.resource=pods":                           1,
	}, series, fmt.Sprintf("%+v", seen))
}

func phaseAttributes(phase string) string {
	return "listwatch.state.phase {stream} listwatch.resource=pods,listwatch.state.phase=" + phase
}

func TestOTelShowsRestoredState(t *testing.T) {
	reader := sdk.NewManualReader()
	trace, err := otel.Trace(meter(reader), "pods")
	require.NoError(t, err)
	phases := restored(t, trace, func() string { return phaseOf(t, collect(t, reader), phaseAttributes) })
	require.Equal(t, []string{"stale", "stopped", "stale", "stale", "live", "stopped"}, phases, "a check and a watch follow the restored state")
}

func TestOTelSeparatesResources(t *testing.T) {
	reader := sdk.NewManualReader()
	meter := meter(reader)
	pods, err := otel.Trace(meter, "pods")
	require.NoError(t, err)
	_, err = otel.Trace(meter, "nodes")
	require.NoError(t, err)
	pods.Event(lw.Event[lw.Keyed]{Type: lw.WatchStarted})
	pods.Event(lw.Event[lw.Keyed]{Type: lw.Bookmark})
	series := collect(t, reader)
	require.Equal(t, "live", phaseOf(t, series, phaseAttributes))
	require.Equal(t, 1.0, series["listwatch.state.phase {stream} listwatch.resource=nodes,listwatch.state.phase=waiting"])
	require.Equal(t, 1.0, series["listwatch.bookmarks {bookmark} listwatch.resource=pods"])
}

func TestOTelUsesEveryHook(t *testing.T) {
	reader := sdk.NewManualReader()
	trace, err := otel.Trace(meter(reader), "pods")
	require.NoError(t, err)
	for hook, value := range reflect.ValueOf(*trace).Fields() {
		require.False(t, value.IsNil(), hook.Name)
	}
	trace.Event(lw.Event[lw.Keyed]{Type: lw.DecodeFailed})
	trace.Redirected("https://k8s.example:443")
	series := collect(t, reader)
	require.Equal(t, 1.0, series["listwatch.undecoded {object} listwatch.resource=pods"])
	require.Equal(t, 1.0, series["listwatch.redirects {redirect} listwatch.resource=pods"])
}

func TestOTelRecordsNoDelayAfterFinalInterruption(t *testing.T) {
	reader := sdk.NewManualReader()
	trace, err := otel.Trace(meter(reader), "pods")
	require.NoError(t, err)
	trace.Event(lw.Event[lw.Keyed]{Type: lw.WatchStarted})
	trace.Event(lw.Event[lw.Keyed]{Type: lw.Interrupted, Interruption: &lw.Interruption{Err: lw.ErrWatchClosed, Final: true}})
	series := collect(t, reader)
	require.Equal(t, "stopped", phaseOf(t, series, phaseAttributes))
	for id := range series {
		require.False(t, strings.HasPrefix(id, "listwatch.retry.delay"), id)
	}
}
