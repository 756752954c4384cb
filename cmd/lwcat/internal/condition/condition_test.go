package condition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func object(t *testing.T, text string) *lw.Object {
	o, err := lw.ParseObject([]byte(text))
	require.NoError(t, err)
	return o
}

func put(t *testing.T, w *Watcher, collection int, o *lw.Object) {
	require.NoError(t, w.Put(fmt.Sprint(collection), o))
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
		"condition=\"Ready\"":                         true,
		"condition='Ready=True'":                      true,
		"condition=Paused":                            false,
		"condition=Paused=False":                      true,
		"condition=Missing":                           false,
		`metadata.labels.app\.io/name=x`:              true,
		"status.conditions[*].type=Ready":             true,
		"jsonpath={.status.phase}=Running":            true,
		"jsonpath='{.status.phase}'=Failed":           false,
		"spec.big>9223372036854775806":                true,
		"spec.big=9223372036854775806":                false,
		"status.readyReplicas<spec.replicas":          true,
		"status.readyReplicas = .spec.replicas":       false,
		"status.readyReplicas={.spec.missing}":        false,
		"status.phase!=spec.missing":                  true,
		"spec.replicas=spec.replicas":                 true,
		`status.phase="status.phase"`:                 false, // the quotes make the value a string instead of a field
		`status.phase="Run && ning, or | not"`:        false,
		".metadata":                                   true,
		"exists":                                      true,
		"deleted":                                     false,
		"none status.phase=Running":                   false,
		"none status.phase=Failed":                    true,
		"all status.phase=Running && spec.replicas>1": true,
		"any status.phase=Failed":                     false,
		"count>=1":                                    true,
		"count = 1 && status.phase=Running":           true,
		"count>=1 && status.phase=Failed":             false,
		"count<1":                                     false,
	} {
		condition, err := Parse(text)
		require.NoError(t, err, text)
		w := Watch([]*Condition{condition}, 1)
		put(t, w, 0, o)
		w.Complete()
		require.Equal(t, want, w.Holds(), text)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `expected FIELD, FIELD OP VALUE or condition=TYPE, and && between them, but found ""`,
		"status...":             `invalid field path: in ".status..."`,
		"all exists":            `exists is not a field path: write condition=exists for a condition, or .exists for a field at the top level`,
		"exists && a.b":         `exists is not a field path`,
		"=x":                    `but found "=x"`,
		"status.phase ! x":      `but found "status.phase ! x"`,
		".a=1 && ":              `but found ""`,
		".a=1 && b":             `b is not a field path: write condition=b for a condition, or .b for a field at the top level`,
		"foo=3":                 `foo is not a field path`,
		"status.phase>>x":       `but found "status.phase>>x"; quote a value with special characters`,
		"status.phase=~R.*":     `but found "status.phase=~R.*"`,
		"status.phase=":         `but found "status.phase="`,
		"status phase":          `but found "status phase"`,
		"status.conditions[0=1": `invalid field path: in ".status.conditions[0", at byte 20: expected ], found the end`,
		".a=3 || .b=1":          `and && between them, but found ".a=3 || .b=1"`,
		".a=3,.b=1":             `but found ".a=3,.b=1"`,
		".a=3 & .b=1":           `but found ".a=3 & .b=1"`,
		".a=3 and .b=1":         `but found ".a=3 and .b=1"`,
		".a='x":                 `but found ".a='x"`,
		"ready":                 `ready is not a field path: write condition=ready for a condition`,
		"Ready=True":            `Ready is not a field path: write condition=Ready for a condition`,
		"condition=":            `but found "condition="`,
		"condition=Ready=Yes":   `expected the status True, False or Unknown after condition=Ready, but found "Yes"`,
		"all":                   `all is not a field path`,
		"count>=x":              `expected a number, for example count>=3`,
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, fmt.Sprintf("condition %q: ", text))
		require.ErrorContains(t, err, want)
	}
}

// TestConditionsOfCollections checks that "all" and "none" wait for every list.
func TestConditionsOfCollections(t *testing.T) {
	good, bad := object(t, `{"metadata":{"name":"a"},"ok":1}`), object(t, `{"metadata":{"name":"a"},"ok":0}`)
	watch := func(text string) *Watcher {
		condition, err := Parse(text)
		require.NoError(t, err)
		return Watch([]*Condition{condition}, 2)
	}
	w := watch("all .ok=1")
	put(t, w, 0, good)
	w.Complete()
	require.False(t, w.Holds(), "\"all\" must not hold before both lists are complete")
	put(t, w, 1, bad)
	w.Complete()
	require.False(t, w.Holds())
	put(t, w, 1, good)
	require.True(t, w.Holds())
	put(t, w, 0, bad)
	require.False(t, w.Holds())
	w.Delete("0", bad)
	require.True(t, w.Holds())
	w.Delete("1", good)
	require.False(t, w.Holds(), "\"all\" must not hold if there are no objects")

	w = watch("deleted")
	put(t, w, 0, good)
	w.Complete()
	w.Complete()
	require.False(t, w.Holds())
	w.Delete("0", good)
	require.True(t, w.Holds())

	w = watch(".ok=1")
	put(t, w, 0, bad)
	require.False(t, w.Holds())
	put(t, w, 0, good)
	require.True(t, w.Holds(), "\"any\" must hold even if the lists are not complete")
}

// TestUnmetConditionsNameObjects checks that a user learns which objects to look at after a timeout. The values of Secrets
// must not appear, because the messages may be in the log of a job.
func TestUnmetConditionsNameObjects(t *testing.T) {
	pod := func(name, status string) *lw.Object {
		return object(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`+name+`"},"status":`+status+`}`)
	}
	for text, want := range map[string]string{
		"all condition=Ready":                   "pod/b: condition Ready is False; pod/c: condition Ready is missing",
		"all .status.phase=Running":             "pod/c: .status.phase is Pending",
		"status.phase=status.wanted":            "pod/a: status.phase is Running, status.wanted is missing; pod/b: status.phase is Running, status.wanted is missing; pod/c: status.phase is Pending, status.wanted is Failed",
		"none status.phase=Running":             "pod/a: status.phase is Running; pod/b: status.phase is Running",
		"count>=3 && {.status.phase}='Running'": "2 of 3 objects match",
		"count>=3":                              "", // holds, so it does not explain a timeout
		"deleted":                               "pod/a: the object still exists; pod/b: the object still exists; pod/c: the object still exists",
		"exists":                                "",
	} {
		c, err := Parse(text)
		require.NoError(t, err)
		w := Watch([]*Condition{c}, 1)
		put(t, w, 0, pod("c", `{"phase":"Pending","wanted":"Failed"}`))
		put(t, w, 0, pod("a", `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`))
		put(t, w, 0, pod("b", `{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}`))
		w.Restore("0", pod("restored", "{}"))
		w.Delete("0", pod("restored", "{}"))
		w.Complete()
		require.Equal(t, want, strings.Join(w.Unmet(), "; "), text)
	}
	c, err := Parse("all .data.ready=1")
	require.NoError(t, err)
	w := Watch([]*Condition{c}, 1)
	require.Empty(t, w.Unmet(), "the list is not complete, so objects may exist")
	w.Complete()
	require.Equal(t, []string{"no object exists"}, w.Unmet())
	w.Restore("0", pod("restored", "{}"))
	require.Empty(t, w.Unmet(), "the server has not confirmed that the object exists")
	for i := range 5 {
		put(t, w, 0, object(t, fmt.Sprintf(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s%d"},"data":{"ready":"c2VjcmV0"}}`, i)))
	}
	put(t, w, 0, object(t, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s0"},"data":{}}`))
	require.Equal(t, []string{"secret/s0: .data.ready is missing", "secret/s1: .data.ready is different", "secret/s2: .data.ready is different", "and 2 more"}, w.Unmet())
}

func TestAllConditionsMustHold(t *testing.T) {
	var conditions []*Condition
	for _, text := range []string{".a=1", "all .b=1"} {
		c, err := Parse(text)
		require.NoError(t, err)
		conditions = append(conditions, c)
	}
	w := Watch(conditions, 1)
	put(t, w, 0, object(t, `{"metadata":{"name":"a"},"b":1}`))
	w.Complete()
	require.False(t, w.Holds())
	put(t, w, 0, object(t, `{"metadata":{"name":"a"},"a":1}`))
	require.False(t, w.Holds())
	put(t, w, 0, object(t, `{"metadata":{"name":"a"},"a":1,"b":1}`))
	require.True(t, w.Holds())
}
