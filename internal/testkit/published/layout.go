package published

import (
	"math"
	"strconv"
)

// documents lists the documents that [Save] updates.
var documents = []string{"docs/performance.md", "wasm/README.md", "README.md"}

var (
	whole      = digits(0)
	tenths     = digits(1)
	hundredths = digits(2)
	small      = below(10, 1, whole)
)

// microseconds formats nanoseconds.
func microseconds(ns float64) string { return shortest(math.Round(ns/10) / 100) }

// shortest is a format without trailing zeros.
func shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Names of the decoders in bench/decode.
const (
	rawCodec      = "listwatch, lw.RawCodec"
	tenFields     = "listwatch, ten fields"
	compact       = "listwatch, cache/compact"
	codecJSON     = "listwatch, codec.JSON with *corev1.Pod"
	codecProtobuf = "listwatch, codec.Protobuf with *corev1.Pod"
	unstructured  = "client-go, unstructured"
	podJSON       = "client-go, *corev1.Pod from JSON"
	podProtobuf   = "client-go, *corev1.Pod from protobuf"
)

// tables lists all tables whose figures come from benchmarks.
var tables = []table{
	{
		name: "structs", groups: "1111",
		columns: []string{codecJSON, podJSON, codecProtobuf, podProtobuf},
		rows: []row{
			{"decode", "CPU time", whole},
			{"decode", "allocations", whole},
			{"retained", "similar Pods", tenths},
		},
	},
	{
		name: "fields", groups: "1111",
		columns: []string{rawCodec, tenFields, compact, unstructured},
		rows: []row{
			{"decode", "CPU time", small},
			{"decode", "allocations", whole},
			{"retained", "similar Pods", below(10, 2, whole)},
			{"retained", "templates", below(10, 2, whole)},
		},
	},
	{
		name: "list", groups: "1111",
		columns: []string{"listwatch: informer, lw.RawCodec", "client-go: typed informer, protobuf", "client-go: typed informer, JSON", "client-go: dynamic informer"},
		rows: []row{
			{"list", "CPU time, one response", below(1, 2, tenths)},
			{"list", "peak RSS, one response", whole},
			{"list", "CPU time, streaming list", below(1, 2, tenths)},
			{"list", "peak RSS, streaming list", whole},
		},
	},
	{
		name:    "store",
		columns: []string{"ratio"},
		rows: []row{
			{"store", "load", hundredths},
			{"store", "add", tenths},
			{"store", "update", tenths},
			{"store", "update that changes an index", tenths},
			{"store", "delete", tenths},
			{"store", "get", tenths},
			{"store", "index lookup, per object found", oneDigit},
			{"store", "list all, per object", hundredths},
			{"store", "mixed write, with 60 snapshots per 10,000 writes", tenths},
		},
	},
	{
		name: "watches", groups: "11111",
		columns: []string{"listwatch, HTTP/1.1", "listwatch, HTTP/2", "listwatch, WebSocket", "client-go, HTTP/1.1", "client-go, HTTP/2"},
		rows: []row{
			{"watches", "heap and stacks per idle watch, kB", whole},
			{"watches", "goroutines per idle watch", whole},
			{"watches", "CPU time per idle watch, µs per second", below(1, 2, tenths)},
			{"watches", "CPU time per event, µs", whole},
		},
	},
	{
		name: "catalog", groups: "11222",
		columns: []string{
			"listwatch, whole objects", "Argo CD, whole objects",
			"listwatch, metadata only", "listwatch, metadata only, packed", "Argo CD, metadata only",
		},
		rows: []row{
			{"catalog", "CPU time to sync, s", tenths},
			{"catalog", "peak RSS to sync, MB", whole},
			{"catalog", "heap, MB", whole},
			{"catalog", "requests to sync", whole},
			{"catalog", "CPU time per event, µs", whole},
		},
	},
	{
		name: "start", groups: "11",
		columns: []string{"listwatch", "client-go"},
		rows: []row{
			{"start", "dialed", whole},
			{"start", "open", whole},
			{"start", "time", tenths},
		},
	},
	{
		name: "typed", goals: true, groups: "01100",
		columns: []string{"ratio, no handler", "listwatch", "client-go", "ratio, one handler", goal},
		rows: []row{
			{"typed", "CPU to sync, ms", whole},
			{"typed", "peak RSS while syncing, MB", whole},
			{"typed", "heap after sync, MB", whole},
			{"typed", "heap after a full List, MB", whole},
			{"typed", "CPU per event, µs", whole},
			{"typed", "CPU per Get of a decoded object, µs", tenths},
			{"typed", "CPU per object of the first List, µs", whole},
			{"typed", "CPU per object of the next List, µs", whole},
		},
	},
	{
		name: "unstructured", goals: true,
		columns: []string{"ratio, no handler", "ratio, one handler"},
		rows: []row{
			{"unstructured", "CPU to sync, ms", hundredths},
			{"unstructured", "peak RSS while syncing, MB", hundredths},
			{"unstructured", "heap after sync, MB", hundredths},
			{"unstructured", "heap after a full List, MB", hundredths},
			{"unstructured", "CPU per event, µs", hundredths},
			{"unstructured", "CPU per object of the first List, µs", hundredths},
		},
	},
	{
		name: "reads", goals: true,
		columns: []string{"ratio", goal},
		rows: []row{
			{"reads", "typed, protobuf, heap", hundredths},
			{"reads", "typed, protobuf, peak RSS", hundredths},
			{"reads", "typed, protobuf, CPU time", hundredths},
			{"reads", "typed, JSON, heap", hundredths},
			{"reads", "typed, JSON, CPU time", hundredths},
			{"reads", "unstructured, JSON, heap", hundredths},
			{"reads", "unstructured, JSON, CPU time", hundredths},
			{"reads", "List of 10 of 80,000 Pods by label, CPU time", hundredths},
		},
	},
	{
		name: "browser", groups: "1122",
		columns: []string{"plain, chrome", "shared, chrome", "plain, firefox", "shared, firefox"},
		rows: []row{
			{"browser", "heap", small},
			{"browser", "parsedHeap", small},
			{"browser", "loadTasks", whole},
			{"browser", "cpu", whole},
			{"browser", "ready", whole},
			{"browser", "synced", whole},
			{"browser", "cached", whole},
			{"browser", "burst", whole},
		},
	},
}

// quotes lists the sentences that contain figures, outside of tables.
var quotes = []quote{
	{"docs/performance.md", "with a peak RSS of %s GB and about %s min of CPU time", []quoted{
		{"million", "peak RSS, GB", "listwatch", tenths}, {"million", "CPU time, minutes", "listwatch", whole},
	}},
	{"docs/performance.md", "listwatch's store takes %s bytes per object, and client-go's store takes %s bytes. A snapshot takes %s µs.", []quoted{
		{"store", "overhead", "listwatch", whole}, {"store", "overhead", "client-go", whole}, {"store", "snapshot, wall time", "listwatch, ns", microseconds},
	}},
	{"docs/performance.md", "the heap was %s kB larger with listwatch, and %s kB larger with client-go.", []quoted{
		{"reads", "heap after the cycles, kB", "listwatch", whole}, {"reads", "heap after the cycles, kB", "client-go", whole},
	}},
	{"docs/performance.md", "At about %s events per second to one handler, an event costs listwatch %s µs of CPU time and client-go %s µs. The ratio is %s, so", []quoted{
		{"apiserver", "events per second", "listwatch", whole}, {"apiserver", "CPU time", "listwatch", whole},
		{"apiserver", "CPU time", "client-go", whole}, {"apiserver", "CPU time", "ratio", hundredths},
	}},
	{"docs/performance.md", "is %s MB with listwatch, and %s MB with client-go's dynamic informer. The first program depends on %s other module, and the second on %s (", []quoted{
		{"binary", "size, MB", "listwatch", hundredths}, {"binary", "size, MB", "client-go", hundredths},
		{"binary", "modules", "listwatch", whole}, {"binary", "modules", "client-go", whole},
	}},
	{"docs/performance.md", "The WASM module is %s kB after brotli compression. With the React hooks, a page loads %s kB of", []quoted{
		{"size", "wasm", "listwatch", whole}, {"browser", "page", "listwatch", tenths},
	}},
	{"docs/performance.md", "listwatch starts in %s ms, and `@kubernetes/client-node` 1.4.0 in %s ms. They process the burst in %s ms and %s ms.", []quoted{
		{"browser", "nothing", "listwatch, node", whole}, {"browser", "nothing", "client-node, node", whole},
		{"browser", "burst", "listwatch, node", whole}, {"browser", "burst", "client-node, node", whole},
	}},
	{"docs/performance.md", "In Node, WebAssembly processes %s MB/s of events, and plain JavaScript processes %s MB/s. " +
		"In Chromium, they process %s and %s MB/s of events, and %s and %s MB/s of a list.", []quoted{
		{"wasm", "decode", "listwatch, Node", whole}, {"wasm", "decode", "plain JavaScript, Node", whole},
		{"wasm", "decode", "listwatch, Chromium", whole}, {"wasm", "decode", "plain JavaScript, Chromium", whole},
		{"wasm", "list", "listwatch, Chromium", whole}, {"wasm", "list", "plain JavaScript, Chromium", whole},
	}},
	{"docs/performance.md", "Decoding an event takes %s times the CPU time of copying its line.", []quoted{
		{"decode", "CPU time", "lw.RawCodec to baseline", tenths},
	}},
	{"wasm/README.md", "MB, or %s kB with brotli compression", []quoted{{"size", "wasm", "listwatch", whole}}},
	{"README.md", "informer is %s MB, and %s MB with client-go's dynamic informer.", []quoted{
		{"binary", "size, MB", "listwatch", hundredths}, {"binary", "size, MB", "client-go", hundredths},
	}},
	{"README.md", "takes %s µs from JSON and %s µs from protobuf. client-go, which keeps managedFields, takes %s µs and %s µs.", []quoted{
		{"decode", "CPU time", codecJSON, whole}, {"decode", "CPU time", codecProtobuf, whole},
		{"decode", "CPU time", podJSON, whole}, {"decode", "CPU time", podProtobuf, whole},
	}},
}
