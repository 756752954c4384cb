package condition

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func object(t *testing.T, text string) *lw.Object {
	o, err := lw.ParseObject([]byte(text))
	require.NoError(t, err)
	return o
}

func TestTerms(t *testing.T) {
	o := object(t, `{"metadata":{"name":"a","labels":{"app.io/name":"x"}},"spec":{"replicas":10,"big":9223372036854775807,"paused":false,"note":"","none":null},
		"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"Paused","status":"False"}],"readyReplicas":9}}`)
	for text, want := range map[string]bool{
		"status.phase":              true,
		".status.phase":             true,
		"{.status.phase}=Running":   true,
		"status.phase == 'Running'": true,
		"status.phase!=Running":     false,
		"status.phase=Pending":      false,
		"status.nothing":            false,
		"status.nothing=x":          false,
		"status.nothing!=x":         true,
		"spec.paused":               false,
		"spec.paused=false":         true,
		"spec.note":                 false,
		`spec.note=""`:              true,
		"spec.none":                 false,
		"spec.replicas>=9.5":        true,
		"spec.replicas<9":           false,
		"spec.replicas > 9 && status.phase=Running": true,
		"spec.replicas > 9 && status.phase=Pending": false,
		"condition=Ready":                             true,
		"condition=ready=true":                        true,
		"condition=Paused":                            false,
		"condition=Paused=False":                      true,
		"condition=Missing":                           false,
		`metadata.labels.app\.io/name=x`:              true,
		"status.conditions[*].type=Ready":             true,
		"jsonpath={.status.phase}=Running":            true,
		"jsonpath='{.status.phase}'=Failed":           false,
		"spec.big>9223372036854775806":                true,
		"spec.big=9223372036854775806":                false,
		"exists":                                      true,
		"deleted":                                     false,
		"none status.phase=Running":                   false,
		"none status.phase=Failed":                    true,
		"all status.phase=Running && spec.replicas>1": true,
		"any status.phase=Failed":                     false,
	} {
		condition, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, condition.String())
		w := condition.Watch(1)
		w.Put(0, o, true)
		w.Complete()
		require.Equal(t, want, w.Holds(), text)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `condition "": expected a field path such as status.phase, but found ""`,
		"status..phase":         `condition "status..phase": expected a field path such as status.phase, but found "status..phase"`,
		"all exists":            `condition "all exists": exists is not a field: use exists and deleted alone, and write a condition in the form condition=Ready`,
		"Deleted":               `condition "Deleted": Deleted is not a field: use exists and deleted alone, and write a condition in the form condition=Ready`,
		"=x":                    `condition "=x": expected a field path such as status.phase, but found ""`,
		"status.phase ! x":      `condition "status.phase ! x": expected one of = == != < <= > >= after status.phase`,
		"a=1 && ":               `condition "a=1 && ": expected a field path such as status.phase, but found ""`,
		"status.phase>>x":       `condition "status.phase>>x": expected a value after >, quoted if it starts with an operator, but found ">x"`,
		"status phase":          `condition "status phase": expected a field path such as status.phase, but found "status phase"`,
		"status.conditions[0=1": `condition "status.conditions[0=1": expected a field path such as status.phase, but found "status.conditions[0"`,
	} {
		_, err := Parse(text)
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, text)
		require.EqualError(t, err, want)
	}
}

// TestConditionsOfCollections checks that "all" and "none" wait for every list.
func TestConditionsOfCollections(t *testing.T) {
	good, bad := object(t, `{"metadata":{"name":"a"},"ok":1}`), object(t, `{"metadata":{"name":"a"},"ok":0}`)
	watch := func(text string) *Watcher {
		condition, err := Parse(text)
		require.NoError(t, err)
		return condition.Watch(2)
	}
	w := watch("all ok=1")
	w.Put(0, good, true)
	w.Complete()
	require.False(t, w.Holds(), "one list is not complete")
	w.Put(1, bad, true)
	w.Complete()
	require.False(t, w.Holds())
	w.Put(1, good, false)
	require.True(t, w.Holds())
	w.Put(0, bad, false)
	require.False(t, w.Holds())
	w.Delete(0, bad)
	require.True(t, w.Holds())
	w.Delete(1, good)
	require.False(t, w.Holds(), "all of nothing is nothing")

	w = watch("deleted")
	w.Put(0, good, true)
	w.Complete()
	w.Complete()
	require.False(t, w.Holds())
	w.Delete(0, good)
	require.True(t, w.Holds())

	w = watch("ok=1")
	w.Put(0, bad, true)
	require.False(t, w.Holds())
	w.Put(0, good, false)
	require.True(t, w.Holds(), "any needs no complete list")
}
