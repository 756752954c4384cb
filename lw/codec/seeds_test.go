package codec

// values contains JSON values, many of them at or beyond the limits of a Go type.
var values = []string{
	"null", "true", "0", "-0", "1", "-1", "1.5", "1e2", "128", "-129", "256", "32768", "65536", "2147483648", "4294967296",
	"9999999999", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "25000000000000000000",
	"99999999999999999999", "1e39", "1e309", "0.1", "1.00000017881393432617187499", `""`, `"x"`, `" 5"`, `"5 "`, `"5"`,
	`"5.5"`, `"\u0035"`, `"007"`, `"-Inf"`, `"null"`, `"true"`, `"\"x\""`, `"\"\\ud800\""`, `"quiet"`, `"aGVsbG8"`, `"é"`,
	`"\ud83d\ude00"`, `"\ud800"`, `"\ud800\ud83d\ude00"`, `"\udc00x"`, `"\\ud800"`, "\"\xff\xfe\"", `"2026-11-21T05:00:00Z"`,
	"[]", "[null]", "[1]", `["x"]`, "[[]]", "[{}]", "[1,2,3]", "{}", `{"":null}`, `{"a":1}`, `{"a":"x"}`, `{"1":true}`,
	`{"1.0":true}`, `{" 1":true}`, `{"256":true}`, `{"true":true}`, `{"\u0031":true}`, `{"quiet":1}`, `{"a":{"b":1}}`,
	`{"a":[1e400]}`, "{\"\xff\":\"\xff\"}", `{"next":{"next":{"a":"x"}}}`,
}

// seeds contains an object with all fields, a few unusual objects, and one object for each pair of a field and a value.
var seeds = func() []string {
	all := []string{
		`{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","namespace":"b","resourceVersion":"1","labels":{"a.b/c":"d"},` +
			`"creationTimestamp":"2026-11-21T05:00:00Z","managedFields":[{"a":1}]},"inlined":"x","bool":true,"int":-1,"int8":-128,` +
			`"int64":9223372036854775807,"uint64":18446744073709551615,"float32":3.4e38,"float64":1.7e308,"string":"s","named":7,` +
			`"enum":"e","pointer":1,"pointers":"p","struct":{"a":1,"b":"2","next":{"a":3}},"structPtr":{},"empty":{"x":1},"slice":[1,2],` +
			`"slices":[["a"],[],null],"structs":[{"a":1}],"structPtrs":[null,{}],"array":[1,2,3],"bytes":"aGVsbG8=","map":{"":"empty"},` +
			`"mapBytes":{"a":"AA=="},"mapStruct":{"a":{"a":1}},"mapPtr":{"a":null},"mapInt":{"-5":true},"mapUint":{"255":true},` +
			`"mapText":{"a":1},"mapNamed":{"a":"b"},"mapNested":{"a":{"b":9007199254740993}},"any":{"a":[1,1.5,"x",null,true,` +
			`9223372036854775807,9223372036854775808,-0,1e3]},"anys":[1,{"":2}],"mapAny":{"a":9007199254740993},"raw":{"a": [1, 2]},` +
			`"rawPtr":[1],"number":1e3,"time":"2026-11-21T05:00:00Z","timePtr":null,"custom":"80%","customPtr":80,"customs":{"a":1},` +
			`"text":"loud","textPtr":"loud","quoted":"5","quotedPtr":"6","quotedBool":"true","quotedF":"1.5","quotedS":"\"s\"",` +
			`"quotedNot":[1],"error":null,"-":1,"a.b/c d":2,"Untagged":3,"hidden":4,"unknown":{"":[0.1,-0,1e5,{"x":"\u0000"}]}}`,
		`{"":{"":1},"":2,"int":3}`, `{"\u0069nt":5}`, "{\n\t\"int\" : 5 ,\r\n\"slice\":[ 1 , 2 ] }", `{}`,
	}
	for _, name := range fields {
		for _, value := range values {
			all = append(all, `{"`+name+`":`+value+`}`)
		}
	}
	return all
}()
