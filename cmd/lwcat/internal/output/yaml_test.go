package output

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestYAML(t *testing.T) {
	const want = `--- # ADDED 2026-11-21T12:00:00.123456789Z pods shop/web-0
kind: Pod
apiVersion: v1
metadata:
  name: web-0
  namespace: shop
  resourceVersion: "7"
  generation: 9007199254740993
spec:
  nodeName: n1
  containers:
    - name: a
      image: x:1
    - name: b
      image: y:2
status:
  phase: Pending
...
`
	require.Equal(t, want, printed(t, "yaml", &Options{}, added(t, "pods", web0)))
	text := printed(t, "yaml", &Options{Types: true}, added(t, "pods", web0), deleted(t, "pods", web0))
	require.Equal(t, 2, strings.Count(text, "\n...\n"))
	require.Contains(t, text, "\ntype: DELETED\n")
	require.Contains(t, text, "\nobject:\n  kind: Pod\n")
}

// TestYAMLQuotesAmbiguousStrings covers strings that parsers of YAML 1.1 or 1.2 could read as other types.
func TestYAMLQuotesAmbiguousStrings(t *testing.T) {
	const text = `{"metadata":{"name":"x"},"y":"yes","on":"12:30","e":"","n":null,"t":"true","i":"0x1f","o":"0o7","d":"2026-11-21","m":"a\nb\n","s":" x","c":"# x","r":"a\r\nb","nel":"a\u0085b","big":18446744073709551616,"f":1.50,"exp":1e400,"l":[],"z":{},"_":"1_000","null":"~"}`
	const want = `metadata:
  name: x
"y": "yes"
"on": "12:30"
e: ""
"n": null
t: "true"
i: "0x1f"
o: "0o7"
d: "2026-11-21"
m: |
  a
  b
s: " x"
c: "# x"
r: "a\r\nb"
nel: "a\u0085b"
big: 18446744073709551616
f: 1.50
exp: 1e400
l: []
z: {}
"_": "1_000"
"null": "~"
`
	_, document, _ := strings.Cut(printed(t, "yaml", &Options{}, added(t, "x", text)), "\n")
	require.Equal(t, want+"...\n", document)
}

// FuzzYAML checks that the printed YAML decodes to the same value, up to the decoder's number precision.
func FuzzYAML(f *testing.F) {
	f.Add(`{"a":[1,-2.5e3,"x\n  y\n\n","---","...","%","-","null",{"b":{}}],"":[[]]}`)
	f.Add(`{"a":"\u2028\ufeff\u0000\u001b","key with: colon":"- x","'":"\"","?":"!!str"}`)
	f.Add(`{"a":{"b":1},"B":2,"b":3,"a":{"c":4},"\u0061":{"d":5}}`)
	f.Add("{\"\u202e\":\"\u2066\\\\\u061c\\n x\u200f\"}")
	f.Add(`{"a":"\n x","b":"x\n\n","c":"\t","d":" \n","e":"0b1","g":".inf","h":"+1","i":"=","j":"<<"}`)
	f.Fuzz(func(t *testing.T, text string) {
		object, err := lw.ParseObject([]byte(text))
		var want any
		if err != nil || json.Unmarshal([]byte(text), &want) != nil || strings.Contains(text, `\ud`) || !json.Valid([]byte(object.Raw())) {
			return
		}
		document := string(appendNode([]byte("a:"), object.Get(""), "\n  ", "\n  ")) + "\n"
		var got any
		err = yaml.Unmarshal([]byte(document), &got)
		require.NoError(t, err, document)
		back, err := json.Marshal(got.(map[string]any)["a"])
		require.NoError(t, err)
		wanted, err := json.Marshal(want)
		require.NoError(t, err)
		require.JSONEq(t, string(wanted), string(back), document)
	})
}
