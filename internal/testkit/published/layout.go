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

// Names of the decoders of bench/decode.
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
		name: "structs", title: "quantity",
		columns: []column{
			{title: "listwatch, JSON", key: codecJSON, group: 1},
			{title: "client-go, JSON", key: podJSON, group: 1},
			{title: "listwatch, protobuf", key: codecProtobuf, group: 1},
			{title: "client-go, protobuf", key: podProtobuf, group: 1},
		},
		rows: []row{
			{"decode", "CPU time", "CPU time per event, µs", whole},
			{"decode", "allocations", "allocations per event", whole},
			{"retained", "similar Pods", "heap per Pod, kB", tenths},
		},
	},
	{
		name: "fields", title: "quantity",
		columns: []column{
			{title: "`lw.RawCodec`", key: rawCodec, group: 1},
			{title: "`lw.Project`, ten fields", key: tenFields, group: 1},
			{title: "`cache/compact`", key: compact, group: 1},
			{title: "client-go, unstructured", key: unstructured, group: 1},
		},
		rows: []row{
			{"decode", "CPU time", "CPU time per event, µs", small},
			{"decode", "allocations", "allocations per event", whole},
			{"retained", "similar Pods", "heap per Pod, similar Pods, kB", below(10, 2, whole)},
			{"retained", "templates", "heap per Pod, Pods from 1,000 templates, kB", below(10, 2, whole)},
		},
	},
	{
		name: "list", title: "quantity",
		columns: []column{
			{title: "listwatch, `lw.RawCodec`", key: "listwatch: informer, lw.RawCodec", group: 1},
			{title: "client-go, protobuf", key: "client-go: typed informer, protobuf", group: 1},
			{title: "client-go, typed JSON", key: "client-go: typed informer, JSON", group: 1},
			{title: "client-go, dynamic", key: "client-go: dynamic informer", group: 1},
		},
		rows: []row{
			{"list", "CPU time, one response", "CPU time, one response, s", below(1, 2, tenths)},
			{"list", "peak RSS, one response", "peak RSS, one response, MB", whole},
			{"list", "CPU time, streaming list", "CPU time, streaming list, s", below(1, 2, tenths)},
			{"list", "peak RSS, streaming list", "peak RSS, streaming list, MB", whole},
		},
	},
	{
		name: "store", title: "operation",
		columns: []column{{title: "ratio", key: "ratio"}},
		rows: []row{
			{"store", "load", "load all objects", hundredths},
			{"store", "add", "add", tenths},
			{"store", "update", "update", tenths},
			{"store", "update that changes an index", "update that changes an index", tenths},
			{"store", "delete", "delete", tenths},
			{"store", "get", "get", tenths},
			{"store", "index lookup, per object found", "index lookup, per object found", oneDigit},
			{"store", "list all, per object", "list all objects", hundredths},
			{"store", "mixed write, with 60 snapshots per 10,000 writes", "10,000 mixed writes and 60 snapshots, which client-go cannot take", tenths},
		},
	},
	{
		name: "watches", title: "quantity",
		columns: []column{
			{title: "HTTP/1.1", key: "listwatch, HTTP/1.1", group: 1},
			{title: "HTTP/2", key: "listwatch, HTTP/2", group: 1},
			{title: "WebSocket", key: "listwatch, WebSocket", group: 1},
			{title: "client-go, HTTP/1.1", key: "client-go, HTTP/1.1", group: 1},
			{title: "client-go, HTTP/2", key: "client-go, HTTP/2", group: 1},
		},
		rows: []row{
			{"watches", "heap and stacks per idle watch, kB", "heap and stacks per idle watch, kB", whole},
			{"watches", "goroutines per idle watch", "goroutines per idle watch", whole},
			{"watches", "CPU time per idle watch, µs per second", "CPU time per idle watch, µs/s", below(1, 2, tenths)},
			{"watches", "CPU time per event, µs", "CPU time per event, 1,000 watches, two handlers, µs", whole},
		},
	},
	{
		name: "start", title: "10,000 informers started at once over HTTP/2",
		columns: []column{{title: "listwatch", key: "listwatch", group: 1}, {title: "client-go", key: "client-go", group: 1}},
		rows: []row{
			{"start", "dialed", "connections dialed", whole},
			{"start", "open", "maximum number of open connections", whole},
			{"start", "time", "time until all watches are live, s", tenths},
		},
	},
	{
		name: "typed", title: "typed Pods", goals: true,
		columns: []column{
			{title: "ratio, no handler", key: "ratio, no handler", format: hundredths, judged: true},
			{title: "listwatch, one handler", key: "listwatch", group: 1},
			{title: "client-go, one handler", key: "client-go", group: 1},
			{title: "ratio, one handler", key: "ratio, one handler", format: hundredths, judged: true},
			{title: "goal", key: goal, format: shortest, empty: "none"},
		},
		rows: []row{
			{"typed", "CPU to sync, ms", "CPU time until synced, ms", whole},
			{"typed", "peak RSS while syncing, MB", "peak RSS until synced, MB", whole},
			{"typed", "heap after sync, MB", "heap once synced, MB", whole},
			{"typed", "heap after a full List, MB", "heap immediately after a full `List`, MB", whole},
			{"typed", "CPU per event, µs", "CPU time per event, µs", whole},
			{"typed", "CPU per Get of a decoded object, µs", "CPU time per `Get`, µs", tenths},
			{"typed", "CPU per object of the first List, µs", "CPU time per object, first `List`, µs", whole},
			{"typed", "CPU per object of the next List, µs", "CPU time per object, next `List`, µs", whole},
		},
	},
	{
		name: "unstructured", title: "unstructured Pods", goals: true,
		columns: []column{
			{title: "ratio, no handler", key: "ratio, no handler", judged: true},
			{title: "ratio, one handler", key: "ratio, one handler", judged: true},
		},
		rows: []row{
			{"unstructured", "CPU to sync, ms", "CPU time until synced", hundredths},
			{"unstructured", "peak RSS while syncing, MB", "peak RSS until synced", hundredths},
			{"unstructured", "heap after sync, MB", "heap once synced", hundredths},
			{"unstructured", "heap after a full List, MB", "heap after a full `List`", hundredths},
			{"unstructured", "CPU per event, µs", "CPU time per event", hundredths},
			{"unstructured", "CPU per object of the first List, µs", "CPU time of the first `List`", hundredths},
		},
	},
	{
		name: "browser", title: "quantity",
		columns: []column{
			{title: "plain JavaScript, Chromium", key: "plain, chrome", group: 1},
			{title: "listwatch, Chromium", key: "shared, chrome", group: 1},
			{title: "plain JavaScript, Firefox", key: "plain, firefox", group: 2},
			{title: "listwatch, Firefox", key: "shared, firefox", group: 2},
		},
		rows: []row{
			{"browser", "heap", "heap of the main thread with 10,000 Pods, MB", small},
			{"browser", "parsedHeap", "heap of the main thread after every Pod was read, MB", small},
			{"browser", "loadTasks", "long tasks during the list of 10,000 Pods", whole},
			{"browser", "cpu", "CPU time of the main thread for 5,000 events, ms", whole},
			{"browser", "ready", "time to load the code and list 10,000 Pods, ms", whole},
			{"browser", "synced", "time from `init` to 1,000 Pods, ms", whole},
			{"browser", "cached", "time from `init` to 1,000 Pods with cached code, ms", whole},
			{"browser", "burst", "time for a burst of 10,000 changes, ms", whole},
		},
	},
}

// quotes lists the sentences with figures outside of tables.
var quotes = []quote{
	{"docs/performance.md", "with a peak RSS of %s GB and about %s min of CPU time", []quoted{
		{"million", "peak RSS, GB", "listwatch", tenths}, {"million", "CPU time, minutes", "listwatch", whole},
	}},
	{"docs/performance.md", "listwatch's store takes %s bytes per object, and client-go's store takes %s bytes. A snapshot takes %s µs.", []quoted{
		{"store", "overhead", "listwatch", whole}, {"store", "overhead", "client-go", whole}, {"store", "snapshot, wall time", "listwatch, ns", microseconds},
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
	{"wasm/README.md", "MB, or %s kB with brotli compression.", []quoted{{"size", "wasm", "listwatch", whole}}},
	{"README.md", "informer is %s MB, and %s MB with client-go's dynamic informer.", []quoted{
		{"binary", "size, MB", "listwatch", hundredths}, {"binary", "size, MB", "client-go", hundredths},
	}},
	{"README.md", "takes %s µs from JSON and %s µs from protobuf. client-go, which keeps managedFields, takes %s µs and %s µs.", []quoted{
		{"decode", "CPU time", codecJSON, whole}, {"decode", "CPU time", codecProtobuf, whole},
		{"decode", "CPU time", podJSON, whole}, {"decode", "CPU time", podProtobuf, whole},
	}},
}
