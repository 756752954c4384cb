package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// wire is the JSON that the reference understands.
type wire struct {
	Type, Kind, APIVersion, Reason string
	Code                           int
	Metadata                       struct {
		ResourceVersion, Continue string
		Annotations               map[string]string
	}
	Details struct {
		Causes            []struct{ Reason string }
		RetryAfterSeconds int
	}
	Object json.RawMessage
	Items  []json.RawMessage
}

// parsed returns an object as it is kept: without managedFields, with kind and apiVersion.
func parsed(text json.RawMessage) object {
	kept := strings.Replace(string(text), managed, "", 1)
	if !strings.HasPrefix(kept, "{"+kindAndVersion) {
		kept = "{" + kindAndVersion + kept[1:]
	}
	o, err := lw.ParseObject([]byte(kept))
	if err != nil {
		panic(err)
	}
	return o
}

// body is a response, with the guard that ends it.
type body struct {
	io.ReadCloser
	guard *guard
	rest  []byte // read, and not a whole line
}

// guard ends a request that is idle for too long, by the longer of both clocks' times.
type guard struct {
	sync.Mutex
	clock   *clock.Clock
	last    clock.Reading
	limit   time.Duration
	stopped bool
}

func (g *guard) set(limit time.Duration) {
	g.Lock()
	g.last, g.limit = g.clock.Now(), limit
	g.Unlock()
}

// ask makes a request. The caller must call done.
func (r *reference) ask(query url.Values, limit time.Duration) (b *body, done func(), end ending) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	clocks := clock.From(r.ctx)
	if r.noWall {
		clocks = clock.From(context.Background())
	}
	g := &guard{clock: clocks}
	g.set(limit)
	look := func() bool {
		g.Lock()
		defer g.Unlock()
		if !g.stopped && clocks.Since(g.last) >= g.limit {
			cancel(lw.ErrSilent)
		}
		return !g.stopped
	}
	var timer *time.Timer
	timer = time.AfterFunc(10*time.Second, func() {
		if look() {
			timer.Reset(10 * time.Second)
		}
	})
	stop := make(chan struct{})
	if r.opts.Wake != nil {
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-r.opts.Wake:
					look()
				}
			}
		}()
	}
	done = func() {
		g.Lock()
		g.stopped = true
		g.Unlock()
		timer.Stop()
		close(stop)
		if b != nil {
			b.Close()
		}
	}
	response, err := r.transport.Open(ctx, &lw.Request{Path: "/", Query: query.Encode()})
	if err != nil {
		return nil, done, r.answered(err)
	}
	b = &body{ReadCloser: response, guard: g}
	return b, done, end
}

// answered says what an error means.
func (r *reference) answered(err error) ending {
	status, ok := err.(*lw.StatusError)
	switch {
	case err == lw.ErrSilent:
		return ending{why: endIdle, err: err}
	case !ok:
		return ending{why: endUnreachable, err: err, wait: -1}
	}
	end := ending{err: err, wait: status.RetryAfter, why: ofCode(status.Code, len(status.Details.Causes) > 0)}
	if s, ok := r.transport.(*sim); ok && end.wait == 0 && s.conn.rejection != nil {
		if at, err := http.ParseTime(s.conn.rejection.header); err == nil {
			end.wait = max(0, time.Until(at))
		}
	}
	return end
}

func ofCode(code int, tooLarge bool) why {
	switch code {
	case 401, 403:
		return endDenied
	case 404:
		return endMissing
	case 410:
		return endExpired
	case 429, 502, 503:
		return endOverloaded
	case 504:
		if tooLarge {
			return endTooNew
		}
		return endOverloaded
	}
	return endFaulty
}

// line reads an event. At a clean end it is nil, with the ending closed.
func (r *reference) line(b *body) ([]byte, ending) {
	chunk := make([]byte, 4096)
	for {
		if line, rest, ok := bytes.Cut(b.rest, []byte("\n")); ok {
			b.rest = rest
			if bytes.IndexByte(line, 1) >= 0 {
				return nil, ending{why: endFaulty, err: io.ErrNoProgress}
			}
			return line, ending{}
		}
		if bytes.IndexByte(b.rest, 1) >= 0 {
			return nil, ending{why: endFaulty, err: io.ErrNoProgress}
		}
		if bytes.HasPrefix(b.rest, []byte("<")) {
			return nil, ending{why: endUnreachable, err: io.ErrNoProgress, wait: -1}
		}
		n, err := b.Read(chunk)
		b.rest = append(b.rest, chunk[:n]...)
		switch {
		case err == io.EOF && len(b.rest) == 0:
			return nil, ending{why: endClosed, err: lw.ErrWatchClosed}
		case err == io.EOF:
			return nil, ending{why: endUnreachable, err: io.ErrUnexpectedEOF, wait: -1}
		case err != nil:
			return nil, r.answered(err)
		}
	}
}

func older(a, b string) bool { return number(a) >= 0 && number(a) < number(b) }

// check asks for the collection's resourceVersion.
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
		return ending{why: endWentBack, err: lw.ErrVersionRegressed}
	}
	return ending{}
}

// page reads one page.
func (r *reference) page(query url.Values) (page wire, end ending) {
	began := time.Now()
	b, done, end := r.ask(query, 90*time.Second)
	defer done()
	if b == nil {
		return page, end
	}
	if query.Get("continue") == "" && !r.checking {
		r.lists = append(r.lists, began)
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
	return page, ending{}
}

// list reads a list, page by page.
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
				return ending{why: endUseless, err: lw.ErrNoProgress}
			}
		}
		for i, item := range page.Items {
			o := parsed(item)
			if key := o.Key().String(); i == 0 && starts[key] && !r.freePages {
				return ending{why: endUseless, err: lw.ErrNoProgress}
			} else {
				starts[key], seen[key] = starts[key] || i == 0, true
			}
			if !r.begin() || !r.send(event{Type: lw.Added, Object: o}) {
				return ending{}
			}
		}
		if page.Metadata.Continue == "" {
			return r.synced(first, page.Kind)
		}
		query.Del("resourceVersion")
		query.Set("continue", page.Metadata.Continue)
	}
}

func bringsNews(items []json.RawMessage, seen map[string]bool) bool {
	for _, item := range items {
		if !seen[parsed(item).Key().String()] {
			return true
		}
	}
	return false
}

// synced ends a list.
func (r *reference) synced(version, kind string) ending {
	if r.listVersion != "" && older(version, r.version) {
		return ending{why: endWentBack, err: lw.ErrVersionRegressed}
	}
	r.version, r.listVersion, r.kind = version, version, kind
	r.listing, r.whole, r.plain = false, false, false
	if r.begin() {
		r.send(event{Type: lw.Synced, ResourceVersion: version})
	}
	return ending{}
}

// watch follows a watch, or a streaming list and the watch behind it.
func (r *reference) watch(streaming bool) (end ending) {
	r.pay()
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
	began := time.Now()
	b, done, end := r.ask(query, 90*time.Second)
	defer done()
	opened, news := time.Now(), false
	defer func() {
		end.streaming, end.watch, end.news, end.timeout = streaming, !streaming, news, timeout
		end.behind = !streaming && query.Has("sendInitialEvents")
		if b != nil {
			end.lived = time.Since(opened)
		}
	}()
	if b == nil {
		return end
	}
	limit := 140 * time.Second
	if r.mutePatience && !r.bookmarks {
		limit = 605 * time.Second
	}
	if streaming {
		r.lists = append(r.lists, began)
		b.guard.set(10 * time.Second)
	} else {
		b.guard.set(limit)
		if !r.send(event{Type: lw.Live, ResourceVersion: r.version}) {
			return ending{}
		}
	}
	for {
		line, end := r.line(b)
		if line == nil {
			if streaming && end.why == endClosed {
				end.why = endUseless
			}
			return end
		}
		var e, o wire
		if json.Unmarshal(line, &e) != nil || json.Unmarshal(e.Object, &o) != nil {
			return ending{why: endFaulty, err: io.ErrNoProgress}
		}
		version := o.Metadata.ResourceVersion
		switch {
		case e.Type == "ERROR":
			return ending{why: ofCode(o.Code, len(o.Details.Causes) > 0), err: lw.ErrNoProgress, wait: time.Duration(o.Details.RetryAfterSeconds) * time.Second}
		case streaming && time.Since(opened) > time.Minute:
			return ending{why: endUseless, err: lw.ErrNoInitialEnd}
		case streaming && e.Type == "BOOKMARK" && o.Metadata.Annotations["k8s.io/initial-events-end"] == "true":
			if end := r.synced(version, r.kind); end.why != endGoesOn || !r.send(event{Type: lw.Live, ResourceVersion: version}) {
				return end
			}
			streaming = false
		case streaming && e.Type != "BOOKMARK":
			kind := map[string]lw.EventType{"ADDED": lw.Added, "MODIFIED": lw.Modified, "DELETED": lw.Deleted}[e.Type]
			if !r.begin() || !r.send(event{Type: kind, Object: parsed(e.Object)}) {
				return ending{}
			}
		case streaming:
		case older(version, r.version) && !r.trusting:
			return ending{why: endWentBack, err: lw.ErrVersionRegressed}
		default:
			next := event{Type: lw.Bookmark, ResourceVersion: version}
			if news = news || version != r.version || e.Type != "BOOKMARK"; e.Type != "BOOKMARK" {
				next.Type, next.Object = map[string]lw.EventType{"ADDED": lw.Added, "MODIFIED": lw.Modified, "DELETED": lw.Deleted}[e.Type], parsed(e.Object)
			} else {
				r.bookmarks = true
			}
			if version != "" {
				r.version, r.listVersion = version, version
			}
			if next.ResourceVersion = r.version; !r.send(next) {
				return ending{}
			}
		}
		if r.heard = time.Now(); streaming {
			b.guard.set(10 * time.Second)
		} else {
			b.guard.set(limit)
		}
	}
}
