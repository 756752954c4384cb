package lwtest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/labels"
	"github.com/seed-6d2a410a/listwatch/internal/revlog"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// query holds the parameters of a LIST or WATCH request.
type query struct {
	*view
	url.Values
	prefix   string // prefix of all keys in the namespace
	selector selector
}

func newQuery(v *view, namespace string, values url.Values) (*query, error) {
	q := &query{view: v, Values: values}
	if namespace != "" {
		q.prefix = namespace + "/"
	}
	labels, err := parseLabels(q.Get("labelSelector"))
	if err != nil {
		return nil, err
	}
	fields, err := parseFields(v.res, q.Get("fieldSelector"))
	q.selector = append(labels, fields...)
	return q, err
}

// page is the response to a LIST. If a continue token has expired, only proceed is set, so that the client can list the
// remaining objects as of the latest revision.
type page struct {
	revision  int64
	objects   []*object
	proceed   string // continue token of the next page, or "" on the last page
	remaining *int   // number of objects on later pages; nil on the last page, and always nil with a selector
}

func (s *Server) list(ctx context.Context, q *query) (page, error) {
	if err := validateList(q); err != nil {
		return page{}, err
	}
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), "0"))
	if err != nil {
		return page{}, badRequest("limit: %v", err)
	}
	if token := q.Get("continue"); token != "" {
		return s.proceed(q, token, limit)
	}
	version := q.Get("resourceVersion")
	revision, err := parseVersion(version)
	if err != nil {
		return page{}, badRequest("invalid resource version: %v", err)
	}
	if err := s.waitFor(ctx, revision); err != nil {
		return page{}, err
	}
	match := q.Get("resourceVersionMatch")
	switch {
	case version == "0":
		return s.read(q, 0, "", 0) // without a limit, like kube-apiserver's watch cache
	case match == "Exact", match == "" && revision > 0 && limit > 0: // in kube-apiserver, a limit without a match implies Exact
		return s.read(q, revision, "", limit)
	}
	return s.read(q, 0, "", limit)
}

// proceed returns the page for a continue token.
func (s *Server) proceed(q *query, token string, limit int) (page, error) {
	if v := q.Get("resourceVersion"); v != "" && v != "0" {
		return page{}, badRequest("specifying resource version is not allowed when using continue")
	}
	revision, start, err := decodeContinue(token)
	if err != nil {
		return page{}, badRequest("invalid continue token: continue key is not valid: %v", err)
	}
	p, err := s.read(q, max(revision, 0), q.prefix+start, limit) // a token has -1 for the latest revision, but read expects 0
	if status, ok := err.(*lw.StatusError); ok && status.Reason == "Expired" {
		status.Message = "The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response " +
			"to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent " +
			"list - objects that were created, modified, or deleted between the time the first chunk was returned " +
			"and now may show up in the list."
		return page{proceed: encodeContinue(-1, start)}, status
	}
	return p, err
}

// read returns a page of the objects as of a revision. The page begins at the key start. Revision 0 means the latest
// revision.
func (s *Server) read(q *query, revision int64, start string, limit int) (page, error) {
	s.mu.Lock()
	current := s.log.Revision()
	if revision == 0 {
		revision = current
	}
	entries, err := s.log.At(q.res.id(), q.prefix, revision)
	s.mu.Unlock()
	switch {
	case errors.Is(err, revlog.ErrCompacted):
		return page{}, expired("The resourceVersion for the provided list is too old.")
	case err != nil:
		return page{}, tooLarge(revision, current)
	}
	p := page{revision: revision}
	for i, e := range entries {
		if e.Key < start || !q.selector.matches(e.Value) {
			continue
		}
		p.objects = append(p.objects, e.Value)
		if left := len(entries) - i - 1; len(p.objects) == limit && left > 0 {
			// With "\x00", start is the lowest key after e.Key.
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
		return 0, "", err
	}
	var t continueToken
	if err := json.Unmarshal(data, &t); err != nil {
		return 0, "", err
	}
	start = "/" + strings.TrimPrefix(t.Start, "/")
	switch {
	case t.APIVersion != "meta.k8s.io/v1":
		return 0, "", fmt.Errorf("server does not recognize this encoded version %q", t.APIVersion)
	case t.Revision == 0:
		return 0, "", errors.New("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case start == "/" || path.Clean(start) != start: // like kube-apiserver, reject keys that would leave the prefix, such as ../a
		return 0, "", errors.New(t.Start)
	}
	return t.Revision, start[1:], nil
}

// parseVersion returns a resourceVersion as a number. It returns 0 for an empty resourceVersion.
func parseVersion(version string) (int64, error) {
	if version == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(version, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", version, err)
	}
	return int64(n), nil
}

// invalidOptions collects invalid list options, with the messages of kube-apiserver.
type invalidOptions []lw.StatusCause

func (c *invalidOptions) forbid(field, why string) {
	*c = append(*c, lw.StatusCause{Reason: "FieldValueForbidden", Message: "Forbidden: " + why, Field: field})
}

func (c *invalidOptions) unsupported(field, value, supported string) {
	*c = append(*c, lw.StatusCause{
		Reason: "FieldValueNotSupported", Field: field,
		Message: fmt.Sprintf("Unsupported value: %q: supported values: %s", value, supported),
	})
}

func (c invalidOptions) err() error {
	if len(c) == 0 {
		return nil
	}
	parts := make([]string, len(c))
	for i, cause := range c {
		parts[i] = cause.Field + ": " + cause.Message
	}
	e := newError(http.StatusUnprocessableEntity, "Invalid", `ListOptions.meta.k8s.io "" is invalid: %s`, inBrackets(parts))
	e.Group, e.Kind, e.Causes = "meta.k8s.io", "ListOptions", c
	return e
}

// inBrackets joins messages like kube-apiserver, which writes brackets around two or more messages.
func inBrackets(messages []string) string {
	if len(messages) == 1 {
		return messages[0]
	}
	return "[" + strings.Join(messages, ", ") + "]"
}

func validateList(q *query) error {
	var bad invalidOptions
	if match := q.Get("resourceVersionMatch"); match != "" {
		if q.Get("resourceVersion") == "" {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
		}
		if q.Get("continue") != "" {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
		}
		if match != "Exact" && match != "NotOlderThan" {
			bad.unsupported("resourceVersionMatch", match, `"Exact", "NotOlderThan", ""`)
		}
		if match == "Exact" && q.Get("resourceVersion") == "0" {
			bad.forbid("resourceVersionMatch", `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
	}
	if q.Has("sendInitialEvents") {
		bad.forbid("sendInitialEvents", "sendInitialEvents is forbidden for list")
	}
	return bad.err()
}

func validateWatch(q *query, streamingLists bool) error {
	var bad invalidOptions
	match, streaming := q.Get("resourceVersionMatch"), q.Has("sendInitialEvents")
	if streaming && match != "NotOlderThan" {
		bad.forbid("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	}
	if streaming && !streamingLists {
		bad.forbid("sendInitialEvents", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
	}
	if match != "" {
		if !streaming {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
		}
		if match != "NotOlderThan" {
			bad.unsupported("resourceVersionMatch", match, `"NotOlderThan"`)
		}
		if q.Get("continue") != "" {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
		}
	}
	return bad.err()
}

// selector holds conditions on an object's labels and fields. An object must meet all of them.
type selector []func(*object) bool

func (s selector) matches(o *object) bool {
	for _, holds := range s {
		if !holds(o) {
			return false
		}
	}
	return true
}

func parseLabels(text string) (selector, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	if len(parsed) == 0 {
		return nil, nil
	}
	return selector{func(o *object) bool {
		return parsed.Matches(func(key string) (string, bool) { value, ok := o.labels[key]; return value, ok })
	}}, nil
}

// selectable lists additional fields for field selectors, keyed by the id of the resource.
var selectable = map[string][]string{
	"events": {"involvedObject.kind", "involvedObject.name", "type"},
	"pods":   {"spec.nodeName", "status.phase"},
}

// A backslash in the value of a field selector escapes a comma, an equals sign or a backslash.
var (
	fieldTerms = regexp.MustCompile(`(?s)(?:\\.|[^,])+`)
	fieldTerm  = regexp.MustCompile(`(?s)^([^=]*?)(!=|==?)((?:[^\\,=]|\\[\\,=])*)$`)
	escapes    = regexp.MustCompile(`(?s)\\(.)`)
)

// parseFields parses a fieldSelector. It supports metadata.name, metadata.namespace for namespaced resources, and the
// fields in selectable.
func parseFields(res *resource, text string) (selector, error) {
	known := []string{"metadata.name"}
	if res.namespaced {
		known = append(known, "metadata.namespace")
	}
	known = append(known, selectable[res.id()]...)
	var s selector
	for _, term := range fieldTerms.FindAllString(text, -1) {
		parts := fieldTerm.FindStringSubmatch(term)
		if parts == nil {
			return nil, badRequest("invalid selector: %q; can't understand %q", text, term)
		}
		name, negate, want := parts[1], parts[2] == "!=", escapes.ReplaceAllString(parts[3], "$1")
		if name == "" && want == "" {
			continue // kube-apiserver ignores a term with neither a name nor a value
		}
		if !slices.Contains(known, name) {
			return nil, badRequest("%q is not a known field selector: only \"%s\"", name, strings.Join(known, `", "`))
		}
		s = append(s, func(o *object) bool { return (o.text(name) == want) != negate })
	}
	return s, nil
}

// text returns the string at a path, for example involvedObject.kind.
func (o *object) text(path string) string {
	switch path {
	case "metadata.name":
		return o.name
	case "metadata.namespace":
		return o.namespace
	}
	parsed, err := lw.ParseObject(o.item)
	if err != nil {
		panic(err) // cannot happen, because the server encoded the object
	}
	return parsed.Get(path).String()
}
