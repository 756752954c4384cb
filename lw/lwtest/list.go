package lwtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// query holds the parameters of a LIST or WATCH request.
type query struct {
	res      *Resource
	prefix   string // prefix of all keys in the namespace
	selector selector
	form     form
	tables   *tables // nil unless the client requested a Table
	values   url.Values
}

func (q *query) get(name string) string { return q.values.Get(name) }

func newQuery(res *Resource, namespace string, form form, values url.Values) (*query, error) {
	q := &query{res: res, form: form, values: values}
	if namespace != "" {
		q.prefix = namespace + "/"
	}
	labels, err := parseLabels(q.get("labelSelector"))
	if err != nil {
		return nil, err
	}
	fields, err := parseFields(res, q.get("fieldSelector"))
	if err != nil {
		return nil, err
	}
	q.selector = append(labels, fields...)
	q.tables, err = form.tables(res, values)
	return q, err
}

// page is the response to a LIST.
type page struct {
	revision  int64
	objects   []*object
	proceed   string // continue token of the next page, or "" on the last page
	remaining *int   // number of objects on later pages (nil on the last page or with a selector)
}

func (s *Server) list(ctx context.Context, q *query) (*page, error) {
	if err := validateList(q); err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(cmp.Or(q.get("limit"), "0"))
	if err != nil {
		return nil, badRequest("limit: %v", err)
	}
	if token := q.get("continue"); token != "" {
		return s.proceed(q, token, limit)
	}
	version := q.get("resourceVersion")
	revision, err := parseVersion(version)
	if err != nil {
		return nil, badRequest("invalid resource version: %v", err)
	}
	if err := s.waitFor(ctx, revision); err != nil {
		return nil, err
	}
	match := q.get("resourceVersionMatch")
	switch {
	case version == "0":
		return s.read(q, 0, "", 0) // the watch cache of kube-apiserver ignores limit
	case match == "Exact", match == "" && revision > 0 && limit > 0:
		return s.read(q, revision, "", limit)
	}
	return s.read(q, 0, "", limit)
}

// proceed returns the page that a continue token refers to.
func (s *Server) proceed(q *query, token string, limit int) (*page, error) {
	if v := q.get("resourceVersion"); v != "" && v != "0" {
		return nil, badRequest("specifying resource version is not allowed when using continue")
	}
	revision, start, err := decodeContinue(token)
	if err != nil {
		return nil, badRequest("invalid continue token: %v", err)
	}
	p, err := s.read(q, max(revision, 0), q.prefix+start, limit)
	if status, ok := err.(*apiStatus); ok && status.Reason == "Expired" {
		status.Message = "The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response " +
			"to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent " +
			"list - objects that were created, modified, or deleted between the time the first chunk was returned " +
			"and now may show up in the list."
		status.proceed = encodeContinue(-1, start)
	}
	return p, err
}

// read returns a page of the objects as of a revision. The page begins at the key start. Revision 0 means the latest
// revision.
func (s *Server) read(q *query, revision int64, start string, limit int) (*page, error) {
	s.mu.Lock()
	current := s.log.Revision()
	if revision == 0 {
		revision = current
	}
	entries, err := s.log.At(q.res.id(), q.prefix, revision)
	s.mu.Unlock()
	switch {
	case errors.Is(err, revlog.ErrCompacted):
		return nil, expired("The resourceVersion for the provided list is too old.")
	case err != nil:
		return nil, tooLarge(revision, current)
	}
	p := &page{revision: revision}
	for i, e := range entries {
		if e.Key < start || !q.selector.matches(e.Value) {
			continue
		}
		p.objects = append(p.objects, e.Value)
		if left := len(entries) - i - 1; len(p.objects) == limit && left > 0 {
			p.proceed = encodeContinue(revision, "/"+strings.TrimPrefix(e.Key, q.prefix)+"\x00")
			if len(q.selector) == 0 {
				p.remaining = &left
			}
			break
		}
	}
	return p, nil
}

// continueToken is the value of a continue parameter, which is base64-encoded JSON.
type continueToken struct {
	APIVersion string `json:"v"`
	Revision   int64  `json:"rv"` // -1 means the latest revision
	Start      string `json:"start"`
}

func encodeContinue(revision int64, start string) string {
	return base64.RawURLEncoding.EncodeToString(marshal(continueToken{"meta.k8s.io/v1", revision, start}))
}

func decodeContinue(token string) (revision int64, start string, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, "", errors.New("continue key is not valid: " + err.Error())
	}
	var t continueToken
	if err := json.Unmarshal(data, &t); err != nil {
		return 0, "", errors.New("continue key is not valid: " + err.Error())
	}
	start = "/" + strings.TrimPrefix(t.Start, "/")
	switch {
	case t.APIVersion != "meta.k8s.io/v1":
		return 0, "", errors.New("continue key is not valid: server does not recognize this encoded version " + strconv.Quote(t.APIVersion))
	case t.Revision == 0:
		return 0, "", errors.New("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case start == "/" || path.Clean(start) != start:
		return 0, "", errors.New("continue key is not valid: " + t.Start)
	}
	return t.Revision, start[1:], nil
}

// object returns the encoded object of a watch event. It converts the object to a Table if the client requested Tables.
func (q *query) object(encoded []byte) []byte {
	if q.tables == nil {
		return encoded
	}
	return q.tables.object(encoded)
}

// encode returns the page as kube-apiserver would encode it, with the same key order.
func (p *page) encode(q *query) []byte {
	meta := fields{"resourceVersion": strconv.FormatInt(p.revision, 10)}
	if p.proceed != "" || q.form.sorted(q.res) && q.tables == nil {
		meta["continue"] = p.proceed
	}
	if p.remaining != nil {
		meta["remainingItemCount"] = *p.remaining
	}
	kind, apiVersion := q.form.kind(q.res)
	if q.tables != nil {
		return p.encodeTable(q, encodeOrdered(meta, []string{"resourceVersion", "continue"}))
	}
	var b bytes.Buffer
	if q.form.sorted(q.res) {
		fmt.Fprintf(&b, `{"apiVersion":%q,"items":`, apiVersion)
		p.encodeItems(&b, q.form)
		fmt.Fprintf(&b, `,"kind":"%sList","metadata":%s}`, kind, marshal(meta))
		return b.Bytes()
	}
	encodedMeta := encodeOrdered(meta, []string{"resourceVersion"})
	fmt.Fprintf(&b, `{"kind":"%sList","apiVersion":%q,"metadata":%s,"items":`, kind, apiVersion, encodedMeta)
	p.encodeItems(&b, q.form)
	b.WriteByte('}')
	return b.Bytes()
}

func (p *page) encodeTable(q *query, meta []byte) []byte {
	objects := make([][]byte, len(p.objects))
	for i, o := range p.objects {
		objects[i] = o.whole(q.res)
	}
	return q.tables.encode(meta, objects...)
}

func (p *page) encodeItems(b *bytes.Buffer, form form) {
	b.WriteByte('[')
	for i, o := range p.objects {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(form.item(o))
	}
	b.WriteByte(']')
}
