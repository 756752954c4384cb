package prometheus

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/seed-6d2a410a/listwatch/examples/metrics/internal/measure"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// phase is a collector of the phase of a stream. It loads the state once per scrape, so that exactly one phase is 1.
type phase struct {
	state          *measure.State
	current, start *prometheus.Desc
}

func newPhase(state *measure.State) *phase {
	return &phase{
		state:   state,
		current: prometheus.NewDesc("listwatch_phase", "1 for the current phase of the stream, otherwise 0. The state is current in the phase live.", []string{"phase"}, nil),
		start:   prometheus.NewDesc("listwatch_phase_start_time_seconds", "Time at which the current phase began, in seconds since the Unix epoch.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (p *phase) Describe(descs chan<- *prometheus.Desc) {
	descs <- p.current
	descs <- p.start
}

// Collect implements [prometheus.Collector].
func (p *phase) Collect(metrics chan<- prometheus.Metric) {
	state := p.state.Load()
	for _, one := range measure.Phases() {
		metrics <- prometheus.MustNewConstMetric(p.current, prometheus.GaugeValue, is(one, state.Phase), one.String())
	}
	metrics <- prometheus.MustNewConstMetric(p.start, prometheus.GaugeValue, float64(state.Since.UnixNano())/1e9)
}

func is(one, current lw.Phase) float64 {
	if one == current {
		return 1
	}
	return 0
}
