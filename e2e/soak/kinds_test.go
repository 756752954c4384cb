package soak

import (
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// kind is one way to follow the collection.
type kind struct {
	name      string
	http2     bool
	opts      lw.Options
	edit      func(url.Values)
	patience  time.Duration
	cuts      bool // its responses end early in good order
	steadfast bool // has nothing but defaults, and waits as long as the engine says; others begin a new run, with short delays
}

const (
	selector = "app=blue"
	patience = 2 * time.Second // while hundreds of events come in a second
)

// kinds returns all of them.
func kinds() []kind {
	return []kind{
		{name: "streaming, HTTP/2", http2: true},
		{name: "streaming, impatient, HTTP/1.1", patience: patience},
		{name: "streaming, selector, HTTP/2", http2: true, opts: lw.Options{LabelSelector: selector}},
		{name: "streaming, steadfast, HTTP/2", http2: true, steadfast: true},
		{name: "lists, HTTP/2", http2: true, opts: lw.Options{NoStreamingList: true}},
		{name: "lists, impatient, HTTP/1.1", opts: lw.Options{NoStreamingList: true}, patience: patience},
		{name: "lists, selector, short watches", opts: lw.Options{NoStreamingList: true, LabelSelector: selector}, edit: shortWatches},
		{name: "pages of 7, HTTP/2", http2: true, opts: lw.Options{NoStreamingList: true, PageSize: 7}, edit: latest},
		{name: "pages of 40, impatient, HTTP/1.1", opts: lw.Options{NoStreamingList: true, PageSize: 40}, edit: latest, patience: patience},
		{name: "lists, cut, HTTP/1.1", opts: lw.Options{NoStreamingList: true}, cuts: true},
	}
}

// latest makes a first list one of the latest version, which the server pages; of any version it returns all at once.
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

// lengths returns lengths of responses, between some bytes and some megabytes.
func lengths(seed uint64) func() int {
	random := rand.New(rand.NewPCG(seed, 0))
	return func() int { return 1 + random.IntN(1<<(8+random.IntN(15))) }
}
