package lw

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
)

// scriptedTransport is a transport that answers each request with the next element of answers. If `checks` is not set,
// checks after a broken connection succeed and are not part of the script.
type scriptedTransport struct {
	t        *testing.T
	checks   bool
	checked  int // number of checks that are not part of the script
	answers  []answer
	requests []string // "path?query" of each request, without pretty=false and timeoutSeconds
}

// answer is an error, or a body with an optional error at its end.
type answer struct {
	err  error
	body string
	end  error // nil for a clean end, or errHang to block until ctx is done
}

type hang struct{}

func (hang) Error() string { return "silence" }

var errHang error = hang{}

func (s *scriptedTransport) Open(ctx context.Context, req *Request) (*Response, error) {
	var kept []string
	for part := range strings.SplitSeq(req.Query, "&") {
		if part != "pretty=false" && !strings.HasPrefix(part, "timeoutSeconds=") && part != "allowWatchBookmarks=true" {
			kept = append(kept, part)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	query := strings.Join(kept, "&")
	if slices.Contains(kept, "limit=1") && !strings.Contains(query, "resourceVersion=") && !strings.Contains(query, "continue=") && !s.checks {
		s.checked++
		return &Response{ReadCloser: io.NopCloser(strings.NewReader(podList("1000000", "next", "a")))}, nil
	}
	s.requests = append(s.requests, req.Path+"?"+query)
	if len(s.requests) > len(s.answers) {
		return nil, errHang // the script has ended, so the test can check the requests
	}
	a := s.answers[len(s.requests)-1]
	if a.err == errHang {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if a.err != nil {
		return nil, a.err
	}
	return &Response{ReadCloser: &scriptBody{ctx: ctx, text: strings.NewReader(a.body), end: a.end}}, nil
}

type scriptBody struct {
	ctx  context.Context
	text *strings.Reader
	end  error
}

func (b *scriptBody) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err == nil || b.end == nil {
		return n, err
	}
	if b.end == errHang {
		<-b.ctx.Done()
		return 0, context.Cause(b.ctx)
	}
	return n, b.end
}

func (b *scriptBody) Close() error { return nil }

func (s *scriptedTransport) client(t *testing.T, resource Resource) *Client[*Object] {
	s.t = t
	c, err := NewClient(s, resource, RawCodec{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// podList returns a list of Pods as JSON. The resourceVersion of each Pod is "1".
func podList(version, token string, names ...string) string {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = `{"metadata":{"name":"` + name + `","resourceVersion":"1"}}`
	}
	return `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"` + version + `","continue":"` + token +
		`"},"items":[` + strings.Join(items, ",") + "]}\n"
}

func podEvent(kind, name, version string) string {
	return `{"type":"` + kind + `","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `","resourceVersion":"` + version + `"}}}` + "\n"
}

const (
	expiredEvent = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 5 (9)","reason":"Expired","code":410}}` + "\n"
	faultEvent   = `{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"etcd is unwell","reason":"InternalError","code":500}}` + "\n"
)
