package sim

import (
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func older(a, b string) bool { return number(a) >= 0 && number(a) < number(b) }

// check fetches the collection's resourceVersion. It returns endWentBack if that resourceVersion is older than the
// stream's.
func (r *reference) check() ending {
	r.checking = true
	r.pay()
	page, end := r.page(url.Values{"limit": {"1"}})
	if end.why != endGoesOn {
		return end
	}
	r.checking, r.heard = false, time.Now()
	if older(page.Metadata.ResourceVersion, r.version) {
		r.version = ""
		return ending{why: endWentBack, err: lw.ErrInconsistent, checked: true}
	}
	return ending{}
}

// page fetches a page of a list.
func (r *reference) page(query url.Values) (page wire, end ending) {
	began := time.Now()
	b, done, end := r.ask(query, 90*time.Second)
	defer done()
	if b == nil {
		return page, end
	}
	text, err := io.ReadAll(b)
	if err != nil {
		return page, r.answered(err)
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return page, ending{why: endUnreachable, err: err, wait: -1}
	}
	wrong := !strings.HasSuffix(page.Kind, "List") || page.APIVersion != "v1" || r.kind != "" && page.Kind != r.kind
	if wrong && !r.anyKind && !r.checking {
		return page, ending{why: endFaulty, err: lw.ErrNotList}
	}
	r.heard = time.Now()
	if query.Get("continue") == "" {
		r.charged = 0
	}
	if !r.checking {
		r.charge(began, len(page.Items))
	}
	return page, ending{}
}

// list fetches the pages of a list and sends their objects to the caller.
func (r *reference) list() ending {
	query := url.Values{}
	if r.listVersion != "" {
		query.Set("resourceVersion", r.listVersion)
	}
	if r.opts.PageSize > 0 && !r.whole {
		query.Set("limit", strconv.Itoa(r.opts.PageSize))
	}
	r.pay()
	first, starts, seen := "", map[string]bool{}, map[string]bool{}
	for {
		page, end := r.page(query)
		end.paged = query.Get("continue") != ""
		if end.why != endGoesOn {
			return end
		}
		version := page.Metadata.ResourceVersion
		if !end.paged {
			first = version
		} else if version != first && !r.anyPages {
			return ending{why: endFaulty, err: lw.ErrNotList}
		}
		if end.paged && !r.freePages && !bringsNews(page.Items, seen) {
			if r.pay(); r.tokens < 1 {
				return ending{why: endUseless, err: lw.ErrInconsistent}
			}
		}
		if end := r.items(page.Items, starts, seen); end.why != endGoesOn || r.over {
			return end
		}
		if page.Metadata.Continue == "" {
			return r.synced(first, page.Kind)
		}
		query.Del("resourceVersion")
		query.Set("continue", page.Metadata.Continue)
	}
}

// items sends a page's objects to the caller. It returns endUseless if an earlier page started with the same
// object.
func (r *reference) items(items []json.RawMessage, starts, seen map[string]bool) ending {
	for i, item := range items {
		o := parsed(item)
		key := lw.KeyOf(o).String()
		if i == 0 && starts[key] && !r.freePages {
			return ending{why: endUseless, err: lw.ErrInconsistent}
		}
		starts[key], seen[key] = starts[key] || i == 0, true
		if !r.begin() || !r.send(event{Type: lw.Added, Object: o}) {
			return ending{}
		}
	}
	return ending{}
}

// bringsNews reports whether a page contains an object that is not in seen.
func bringsNews(items []json.RawMessage, seen map[string]bool) bool {
	for _, item := range items {
		if !seen[lw.KeyOf(parsed(item)).String()] {
			return true
		}
	}
	return false
}

// synced completes a list. It returns endWentBack if the list is older than the stream's resourceVersion.
func (r *reference) synced(version, kind string) ending {
	if r.listVersion != "" && older(version, r.version) {
		return ending{why: endWentBack, err: lw.ErrInconsistent}
	}
	r.version, r.listVersion, r.kind = version, version, kind
	r.listing, r.whole, r.plain = false, false, false
	if r.begin() {
		r.send(event{Type: lw.Synced, ResourceVersion: version})
	}
	return ending{}
}

// asking returns the query parameters and the timeout of a watch or streaming list.
func (r *reference) asking(streaming bool) (url.Values, time.Duration) {
	timeout := time.Duration(60+r.opts.Random()*60) * time.Second
	if r.bookmarks {
		timeout *= 5
	}
	query := url.Values{"watch": {"1"}, "resourceVersion": {r.version}, "timeoutSeconds": {strconv.Itoa(int(timeout / time.Second))}}
	if streaming {
		query.Set("sendInitialEvents", "true")
		if query.Set("resourceVersion", r.listVersion); r.listVersion == "0" {
			query.Del("resourceVersion")
		}
	}
	return query, timeout
}

// watch opens a watch or a streaming list and handles its events.
func (r *reference) watch(streaming bool) ending {
	r.pay()
	query, timeout := r.asking(streaming)
	began := time.Now()
	b, done, end := r.ask(query, 90*time.Second)
	defer done()
	w := &following{reference: r, body: b, streaming: streaming, opened: time.Now()}
	w.began = w.opened
	if b != nil {
		end = w.follow()
		end.lived, end.watched = time.Since(w.opened), time.Since(w.began)
	}
	r.charged = 0
	r.charge(began, w.objects)
	end.streaming, end.watch, end.news, end.timeout = w.streaming, !w.streaming, w.news, timeout
	end.behind = streaming && !w.streaming
	return end
}

// A following value is the response to a watch or a streaming list.
type following struct {
	behind bool // the watch follows a streaming list in the same response
	*reference
	*body
	streaming bool // the initial-events-end bookmark has not arrived
	objects   int  // number of objects in the streaming list
	news      bool
	opened    time.Time
	began     time.Time // when the watch began: when the response arrived, or after the streaming list
}

// limit returns the idle timeout of the request.
func (w *following) limit() time.Duration {
	switch {
	case w.streaming:
		return 10 * time.Second
	case w.mutePatience && !w.bookmarks:
		return 605 * time.Second
	}
	return 140 * time.Second
}

func (w *following) follow() ending {
	w.guard.set(w.limit())
	if !w.streaming && !w.send(event{Type: lw.WatchStarted, ResourceVersion: w.version}) {
		return ending{}
	}
	for {
		line, end := w.line(w.body)
		if line == nil {
			if w.streaming && end.why == endClosed {
				end.why = endUseless
			}
			return end
		}
		var e, o wire
		if json.Unmarshal(line, &e) != nil || json.Unmarshal(e.Object, &o) != nil {
			return ending{why: endFaulty, err: io.ErrNoProgress}
		}
		if e.Type == "ERROR" {
			wait := time.Duration(o.Details.RetryAfterSeconds) * time.Second
			return ending{why: ofCode(o.Code, len(o.Details.Causes) > 0), err: lw.ErrInconsistent, wait: wait}
		}
		if w.streaming {
			end = w.initial(e, o)
		} else {
			end = w.next(e, o)
		}
		if end.why != endGoesOn || w.over || w.streaming && w.plain {
			return end
		}
		w.heard = time.Now()
		w.guard.set(w.limit())
	}
}

var eventTypes = map[string]lw.EventType{"ADDED": lw.Added, "MODIFIED": lw.Modified, "DELETED": lw.Deleted, "BOOKMARK": lw.Bookmark}

// initial handles an event before the initial-events-end bookmark of a streaming list. It returns the zero ending if
// the request continues.
func (w *following) initial(e, o wire) ending {
	switch marked := o.Metadata.Annotations["k8s.io/initial-events-end"] == "true"; {
	case time.Since(w.opened) > time.Minute:
		return ending{why: endUseless, err: lw.ErrInconsistent}
	case e.Type != "BOOKMARK" && w.begin():
		w.objects++
		w.send(event{Type: eventTypes[e.Type], Object: parsed(e.Object)})
	case e.Type == "BOOKMARK" && marked && w.objects == 0 && !w.proven && !w.trusting: // the bookmark may have come before the objects
		w.plain, w.listVersion = true, o.Metadata.ResourceVersion
	case e.Type == "BOOKMARK" && marked:
		if end := w.synced(o.Metadata.ResourceVersion, w.kind); end.why != endGoesOn {
			return end
		}
		w.streaming, w.behind, w.began = false, true, time.Now()
		w.send(event{Type: lw.WatchStarted, ResourceVersion: w.version})
	}
	return ending{}
}

// next handles an event of a watch. It returns the zero ending if the request continues.
func (w *following) next(e, o wire) ending {
	version := o.Metadata.ResourceVersion
	early := w.behind && !w.news && version == w.version && e.Type != "BOOKMARK"
	if (early || older(version, w.version)) && !w.trusting {
		return ending{why: endWentBack, err: lw.ErrInconsistent}
	}
	next := event{Type: eventTypes[e.Type]}
	w.news = w.news || version != w.version || e.Type != "BOOKMARK"
	if w.bookmarks = w.bookmarks || e.Type == "BOOKMARK"; e.Type != "BOOKMARK" {
		next.Object = parsed(e.Object)
	}
	if version != "" {
		w.version, w.listVersion = version, version
	}
	next.ResourceVersion = w.version
	w.send(next)
	return ending{}
}
