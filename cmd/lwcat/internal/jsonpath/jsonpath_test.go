package jsonpath

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

const pod = `{"kind":"Pod","metadata":{"name":"web-0","labels":{"app.kubernetes.io/name":"web","a b":"c"},"generation":9007199254740993},
"spec":{"containers":[{"name":"a","image":"x:1","ports":[{"p":80},{"p":443}]},{"name":"b","image":"y:2"},{"name":"c","image":"z\n3"}],"none":null},
"status":{"conditions":[{"type":"Ready","status":"True","n":2},{"type":"Init","status":"False","n":10,"ok":true}]}}`

func TestTemplates(t *testing.T) {
	for template, want := range map[string]string{
		`{.metadata.name}`:                                "web-0",
		`{$.metadata.name}`:                               "web-0",
		`{@.metadata.name}`:                               "web-0",
		`{ .metadata.name }`:                              "web-0",
		`{['metadata']["name"]}`:                          "web-0",
		`{.metadata['name']}`:                             "web-0",
		`{.metadata.['name','generation']}`:               "web-0 9007199254740993",
		`{.metadata.labels.app\.kubernetes\.io/name}`:     "web",
		`{.metadata.labels['app.kubernetes.io/name']}`:    "web",
		`{.metadata.labels.a\ b}`:                         "c",
		`{.metadata.labels}`:                              `{"app.kubernetes.io/name":"web","a b":"c"}`,
		`name: {.metadata.name}{"\t\u00fc\n"}{'x'}`:       "name: web-0\tü\nx",
		`a{"}"}{.kind}`:                                   "a}Pod",
		`{.spec.containers[*].name}`:                      "a b c",
		`{.spec.containers[0].name}`:                      "a",
		`{.spec.containers[-1].name}`:                     "c",
		`{.spec.containers[-2].name}`:                     "b",
		`{.spec.containers[-4].name}`:                     "",
		`{.spec.containers[0:2].name}`:                    "a b",
		`{.spec.containers[1:].name}`:                     "b c",
		`{.spec.containers[:-1].name}`:                    "a b",
		`{.spec.containers[0,2].name}`:                    "a c",
		`{.spec.containers[7].name}`:                      "",
		`{.spec.containers[99999999999999999999].name}`:   "",
		`{.spec.containers[1:99999999999999999999].name}`: "b c",
		`{.spec.containers[2].image}`:                     "z\n3",
		`{.spec.containers[*].ports[*].p}`:                "80 443",
		`{.spec.none}`:                                    "",
		`{.no.such.thing}|`:                               "|",
		`{.metadata.*}`:                                   `web-0 {"app.kubernetes.io/name":"web","a b":"c"} 9007199254740993`,
		`{..image}`:                                       "x:1 y:2 z\n3",
		`{.status.conditions[?(@.type=="Ready")].status}`: "True",
		`{.status.conditions[?(@.type != 'Ready')].type}`: "Init",
		`{.status.conditions[?(@.n>2)].type}`:             "Init",
		`{.status.conditions[?(@.n>=2)].type}`:            "Ready Init",
		`{.status.conditions[?(@.n<10)].type}`:            "Ready",
		`{.status.conditions[?(@.n<=10)].type}`:           "Ready Init",
		`{.status.conditions[?(@.n=="2")].type}`:          "Ready",
		`{.status.conditions[?(@.ok)].type}`:              "Init",
		`{.status.conditions[?(@.ok==true)].type}`:        "Init",
		`{.status.conditions[?(@.nil!="x")].type}`:        "",
		`{.metadata[?(@==9007199254740993)]}`:             "9007199254740993",
		`{.metadata[?(@==9007199254740992)]}`:             "",
		`{range .spec.containers[*]}{.name}={.image}@{$.metadata.name}{"\n"}{end}.`: "a=x:1@web-0\nb=y:2@web-0\nc=z\n3@web-0\n.",
		`{range .spec.containers[*]}{range .ports[*]}{.p},{end}{@.name};{end}`:      "80,443,a;b;c;",
		`{range .spec.containers[?(@.name=="b")]}{@.name}{end}`:                     "b",
		`{range.status.conditions[*]}{.type}{end}`:                                  "ReadyInit",
		`{.}`: pod,
	} {
		parsed, err := Parse(template)
		require.NoError(t, err, template)
		value, err := lw.ParseValue([]byte(pod))
		require.NoError(t, err)
		require.Equal(t, want, string(parsed.Append(nil, value, lw.Value.String)), template)
	}
}

// TestUnsupportedSyntaxIsRejected checks that the error for unsupported or incomplete syntax names the expected syntax.
func TestUnsupportedSyntaxIsRejected(t *testing.T) {
	for template, want := range map[string]string{
		``:                              `in "", at byte 0: expected a path in braces such as {.metadata.name}, found the end`,
		`.metadata.name`:                `at byte 14: expected a path in braces such as {.metadata.name}, found`,
		`status.phase`:                  `expected a path in braces such as {.status.phase}, found the end`,
		`{.metadata.name`:               `expected }, found the end`,
		`{.a}}{.b`:                      `expected }, found the end`,
		`{metadata}`:                    `at byte 1: expected a path that starts with a dot, [, $ or @, found "metadata}"`,
		`{}`:                            `expected a path`,
		`{.a .b}`:                       `expected }, found ".b}"`,
		`{.a..}`:                        `expected a name`,
		`{.a[}`:                         `expected an index, a slice, *, a quoted name or a filter, found "}"`,
		`{.a[x]}`:                       `expected an index`,
		`{.a[0}`:                        `expected ], found "}"`,
		`{.a[0:1:2]}`:                   `expected ]`,
		`{.a["x]}`:                      `expected a closing quote`,
		`{.a["\q"]}`:                    `expected an escape sequence`,
		`{.a[?(@.x=="a" && @.y=="b")]}`: `expected ), found "&& @.y==`,
		`{.a[?(@.x=~"a")]}`:             `expected ==, !=, <, <=, >, >= or ), found "=~\"a\")]}"`,
		`{.a[?(x=="a")]}`:               `expected a path, a number, true, false, null or a quoted string, found "x==\"a\")]}"`,
		`{range .a[*]}{.b}`:             `expected {end}, found the end`,
		`{.b}{end}`:                     `expected a path that starts`,
		`{range .a[*]`:                  `expected }`,
		`{if .a}`:                       `expected a path`,
	} {
		_, err := Parse(template)
		require.ErrorContains(t, err, want, template)
	}
}

func TestBracesAndLeadingDotAreOptional(t *testing.T) {
	object, err := lw.ParseValue([]byte(pod))
	require.NoError(t, err)
	for _, text := range []string{"{.metadata.name}", ".metadata.name", "metadata.name", "$.metadata.name", " {metadata.name} ", "['metadata'].name"} {
		path, err := ParsePath(text)
		require.NoError(t, err, text)
		var found []lw.Value
		for value := range path.Find(object) {
			found = append(found, value)
		}
		require.Len(t, found, 1, text)
		require.Equal(t, `"web-0"`, found[0].Raw(), text)
	}
	for text, want := range map[string]string{"": "expected a path", "a b": "expected a dot or [", "a]": "expected a dot", "{.a}{.b}": "expected a dot"} {
		_, err := ParsePath(text)
		require.ErrorContains(t, err, want, text)
	}
}

// lwcat compares Path.Fields with the schema of a type, so a field counts only if the path needs it.
func TestFieldsEndAtChoices(t *testing.T) {
	for text, want := range map[string]string{
		".status.phase": "status.phase", ".spec.containers[0].image": "spec.containers.[].image", "['spec']['nodeName']": "spec.nodeName",
		".status['phase','foo']": "status", ".status['phase','foo'].x": "status", ".spec.*.x": "spec",
	} {
		path, err := ParsePath(text)
		require.NoError(t, err, text)
		require.Equal(t, want, strings.Join(path.Fields, "."), text)
	}
}

// FuzzParse checks that no input causes a panic. Each value that a path finds must be part of the object. A plain
// path must find the same value as lw.Value.Get.
func FuzzParse(f *testing.F) {
	f.Add(`{range .a[?(@.b=="c")]}{..x[0:-1:2]['y']}{"\n"}{end}`, pod)
	f.Add(`spec.containers[0].image`, pod)
	f.Add(`$..[?(@.name!='x')].name`, `{"a":[{"name":"x"},{"name":"\u0079","name":[]}],"":{"":1}}`)
	f.Add(`{.a[-1,'b'].*}`, `{"a":[1,{"c":null}]}`)
	f.Fuzz(func(t *testing.T, text, object string) {
		value, err := lw.ParseValue([]byte(object))
		if err != nil || len(object) > 4000 || strings.Count(text, "..") > 2 {
			return // large objects and nested descents take too long
		}
		if template, err := Parse(text); err == nil {
			require.Equal(t, template.Append(nil, value, lw.Value.String), template.Append(nil, value, lw.Value.String))
		} else {
			require.NotEmpty(t, err.Error())
		}
		path, err := ParsePath(text)
		if err != nil {
			return
		}
		var first lw.Value
		for found := range path.Find(value) {
			require.True(t, json.Valid([]byte(found.Raw())) && strings.Contains(object, found.Raw()), "%q", found)
			if !first.Exists() {
				first = found
			}
		}
		if plain.MatchString(text) {
			require.Equal(t, value.Get(text), first)
		}
	})
}

var plain = regexp.MustCompile(`^[a-zA-Z]+(\.[a-zA-Z]+|\[\d+\])*$`)
