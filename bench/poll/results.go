package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

func printPart(to io.Writer, p part, found [][]result) error {
	if len(p.tasks) == 0 {
		return nil
	}
	fmt.Fprintf(to, "\n%s\n", p.title)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\t\tserver: requests/s\tkB/s sent\tprocessors\tclients: processors\tage of a change: median\t99th percentile\t\n", p.column)
	for i, t := range p.tasks {
		m := summary(found[i])
		fmt.Fprintf(w, "%s\t%v\t%.1f\t%.1f\t%.4f\t%.4f\t%s\t%s\t%s\n", p.of(t), t, m.Requests, m.Bytes/1000, m.ServerCPU, m.ClientCPU,
			m.age(0.5), m.age(0.99), m.remark(t))
	}
	return w.Flush()
}

// summary has the medians of some results, and all of their delays.
func summary(of []result) (m result) {
	for _, one := range []struct {
		to  *float64
		get func(result) float64
	}{
		{&m.ServerCPU, func(r result) float64 { return r.ServerCPU }},
		{&m.ClientCPU, func(r result) float64 { return r.ClientCPU }},
		{&m.Requests, func(r result) float64 { return r.Requests }},
		{&m.Refused, func(r result) float64 { return r.Refused }},
		{&m.Answered, func(r result) float64 { return r.Answered }},
		{&m.Bytes, func(r result) float64 { return r.Bytes }},
		{&m.Others, func(r result) float64 { return r.Others }},
	} {
		var values []float64
		for _, r := range of {
			values = append(values, one.get(r))
		}
		*one.to = measure.Median(values)
	}
	for _, r := range of {
		m.Delays = append(m.Delays, r.Delays...)
		m.Unseen += r.Unseen
	}
	return m
}

// age is how old a change was when it was seen, of the share that was seen soonest.
func (r *result) age(share float64) string {
	if len(r.Delays) == 0 {
		return "-"
	}
	var values []float64
	for _, delay := range r.Delays {
		values = append(values, float64(delay))
	}
	return fmt.Sprintf("%.1f ms", measure.Quantile(values, share)/float64(time.Millisecond))
}

// remark tells what was asked of the server and not done, and what clients never saw.
func (r *result) remark(t task) (text string) {
	if t.Every > 0 {
		if due := float64(t.Clients) / t.Every.Seconds(); r.Answered < 0.95*due {
			text = fmt.Sprintf("overloaded: %.0f of %.0f lists a second were answered, %.0f refused; all would take %.1f processors of the server and "+
				"%.1f of the clients, and others took %.1f meanwhile; ",
				r.Answered, due, r.Refused, r.ServerCPU/r.Answered*due, r.ClientCPU/r.Answered*due, r.Others)
		}
	}
	if all := len(r.Delays) + r.Unseen; r.Unseen > 0 {
		text += fmt.Sprintf("%d of %d states never seen", r.Unseen, all)
	}
	return text
}
