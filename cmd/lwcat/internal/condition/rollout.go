package condition

import "github.com/seed-6d2a410a/listwatch/lw"

// RolloutError reports a rollout that cannot complete.
type RolloutError struct{ Object, Problem string }

func (e *RolloutError) Error() string { return e.Object + ": " + e.Problem }

// rolledOut reports whether the rollout of an object is complete, by the rules of kubectl rollout status. The error is
// a *[RolloutError].
func rolledOut(o *lw.Object) (done bool, err error) {
	switch kind := o.Kind(); {
	case kind != "Deployment" && kind != "StatefulSet" && kind != "DaemonSet":
		return false, &RolloutError{o.Key().String(), kind + " has no rollout: use condition=Ready or a field"}
	case kind != "Deployment" && updateStrategy(o) != "RollingUpdate":
		return false, &RolloutError{o.Key().String(), "the update strategy is not RollingUpdate, so the rollout has no status"}
	}
	number := func(path string) int64 { return o.Get(path).Int() }
	if observed := number("status.observedGeneration"); observed == 0 || observed < number("metadata.generation") {
		return false, nil
	}
	desired := o.Get("spec.replicas")
	updated := number("status.updatedReplicas")
	switch o.Kind() {
	case "Deployment":
		for condition := range o.Get("status.conditions").Elements() {
			if condition.Get("type").String() == "Progressing" && condition.Get("reason").String() == "ProgressDeadlineExceeded" {
				return false, &RolloutError{o.Key().String(), "the rollout exceeded its progress deadline"}
			}
		}
		return updated >= desired.Int() && number("status.replicas") <= updated && number("status.availableReplicas") >= updated, nil
	case "DaemonSet":
		wanted := number("status.desiredNumberScheduled")
		return number("status.updatedNumberScheduled") >= wanted && number("status.numberAvailable") >= wanted, nil
	default:
		partition := o.Get("spec.updateStrategy.rollingUpdate.partition")
		switch {
		case number("status.readyReplicas") < desired.Int():
			return false, nil
		case o.Get("spec.updateStrategy.rollingUpdate").Exists():
			return !desired.Exists() || !partition.Exists() || updated >= desired.Int()-partition.Int(), nil
		}
		return o.Get("status.updateRevision").String() == o.Get("status.currentRevision").String(), nil
	}
}

func updateStrategy(o *lw.Object) string {
	if strategy := o.Get("spec.updateStrategy.type"); strategy.Exists() {
		return strategy.String()
	}
	return "RollingUpdate"
}
