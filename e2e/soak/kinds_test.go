package soak

import (
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// kind is a configuration of a follower.
type kind struct {
	name        string
	http2       bool
	opts        lw.Options
	edit        func(url.Values)
	idleTimeout time.Duration
	cuts        bool // each response is truncated at a random length and then ends cleanly
	steadfast   bool // waits for every retry delay; other followers restart after longestDelay
}

const (
	selector    = "app=blue"
	idleTimeout = 2 * time.Second // a healthy watch is never silent that long, because hundreds of events arrive per second
)

func kinds() []kind {
	return []kind{
		{name: "streaming, HTTP/2", http2: true},
		{name: "streaming, idle timeout, HTTP/1.1", idleTimeout: idleTimeout},
		{name: "streaming, selector, HTTP/2", http2: true, opts: lw.Options{LabelSelector: selector}},
		{name: "streaming, defaults, HTTP/2", http2: true, steadfast: true},
		{name: "lists, HTTP/2", http2: true, opts: lw.Options{NoStreamingList: true}},
		{name: "lists, idle timeout, HTTP/1.1", opts: lw.Options{NoStreamingList: true}, idleTimeout: idleTimeout},
		{name: "lists, selector, short watches", opts: lw.Options{NoStreamingList: true, LabelSelector: selector}, edit: shortWatches},
		{name: "pages of 7, HTTP/2", http2: true, opts: lw.Options{NoStreamingList: true, PageSize: 7}, edit: latest},
		{name: "pages of 40, idle timeout, HTTP/1.1", opts: lw.Options{NoStreamingList: true, PageSize: 40}, edit: latest, idleTimeout: idleTimeout},
		{name: "lists, truncated, HTTP/1.1", opts: lw.Options{NoStreamingList: true}, cuts: true},
	}
}

// latest removes resourceVersion=0 from a list query, because the server ignores the page size at this resourceVersion.
func latest(query url.Values) {
	if query.Get("resourceVersion") == "0" && !query.Has("watch") {
		query.Del("resourceVersion")
	}
}

func shortWatches(query url.Values) {
	if query.Has("watch") {
		query.Set("timeoutSeconds", "4")
	}
}

// lengths returns a function that returns random response lengths from 1 byte to 4 MiB.
func lengths(seed uint64) func() int {
	random := rand.New(rand.NewPCG(seed, 0))
	return func() int { return 1 + random.IntN(1<<(8+random.IntN(15))) }
}
