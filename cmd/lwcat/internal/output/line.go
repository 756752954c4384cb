package output

import (
	"bufio"
	"strconv"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// printLine prints a line for people: when, what, which, and how it is.
func printLine(out *bufio.Writer, e *Event, _ *Options) error {
	out.WriteString(e.Time.Format("15:04:05.000 "))
	pad(out, e.Type.String(), 9)
	pad(out, e.Object.Kind(), 10)
	pad(out, e.Object.Key().String(), 44)
	out.WriteString(state(e.Object))
	out.WriteByte('\n')
	return nil
}

func pad(out *bufio.Writer, text string, width int) {
	out.WriteString(text)
	for range max(1, width-utf8.RuneCountInString(text)) {
		out.WriteByte(' ')
	}
}

// state sums up an object in a word or two, where it has what most objects have.
func state(object *lw.Object) string {
	if object.Get("metadata.deletionTimestamp").Exists() {
		return "Terminating"
	}
	if reason := object.Get("status.containerStatuses[0].state.waiting.reason"); reason.Exists() {
		return reason.String()
	}
	if phase := object.Get("status.phase"); phase.Exists() {
		return phase.String()
	}
	if wanted := object.Get("spec.replicas"); wanted.Exists() {
		ready := object.Get("status.readyReplicas").Int()
		return strconv.FormatInt(ready, 10) + "/" + wanted.String() + " ready"
	}
	for condition := range object.Get("status.conditions").Elements() {
		if condition.Get("type").String() == "Ready" {
			return map[string]string{"True": "Ready", "False": "NotReady"}[condition.Get("status").String()]
		}
	}
	return ""
}
