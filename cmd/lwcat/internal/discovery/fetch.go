package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// accept requests aggregated discovery, in the format of Kubernetes 1.30 or 1.26. Servers without aggregated discovery
// send a list of groups. https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// Ask returns the server's resources. It sends two concurrent requests. The field Missing lists the groups that could
// not be discovered. Ask returns an error if it finds no resources.
func Ask(ctx context.Context, transport lw.Transport) (*Resources, error) {
	var core, groups response
	var both sync.WaitGroup
	both.Go(func() { core = fetchRoot(ctx, transport, "/api") })
	both.Go(func() { groups = fetchRoot(ctx, transport, "/apis") })
	both.Wait()
	all := &Resources{}
	for _, a := range []response{core, groups} {
		all.All = append(all.All, a.resources...)
		all.Missing = append(all.Missing, a.missing...)
	}
	if err := cmp.Or(core.err, groups.err); err != nil && len(all.All) == 0 {
		return nil, fmt.Errorf("discovering the server's resources: %w", err)
	}
	return all, nil
}

// response contains the resources below /api or /apis.
type response struct {
	resources []Resource
	missing   []string
	err       error // set if the request failed
}

// fetchRoot fetches the resources below /api or /apis.
func fetchRoot(ctx context.Context, transport lw.Transport, root string) (a response) {
	d, err := fetch(ctx, transport, root)
	kind := d.string("kind")
	switch {
	case err == nil && kind == "APIGroupDiscoveryList":
		return d.aggregated()
	case err == nil && (kind == "APIVersions" || kind == "APIGroupList"):
		err = errors.New("the server does not support aggregated discovery, which requires Kubernetes 1.27 or later: specify collections by path, for example /api/v1/pods")
	case err == nil:
		err = fmt.Errorf("expected a discovery document, got kind %.40q", kind)
	}
	err = fmt.Errorf("%s: %w", root, err)
	return response{err: err, missing: []string{err.Error()}}
}

// maxBytes limits the size of a document. A server with a thousand custom resources sends about 0.5 MiB.
const maxBytes = 8 << 20

// ErrTooLarge reports that a document exceeds the limit.
var ErrTooLarge = errors.New("the discovery response is too large")

func fetch(ctx context.Context, transport lw.Transport, path string) (document, error) {
	body, err := transport.Open(ctx, &lw.Request{Path: path, Accept: accept})
	if err != nil {
		return document{}, err
	}
	defer body.Close()
	var text json.RawMessage
	err = json.NewDecoder(&limitedReader{from: body, remaining: maxBytes}).Decode(&text)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return document{}, fmt.Errorf("the response is not JSON; it may be a proxy's error page or a login page: %w", err)
	}
	if err != nil {
		return document{}, err
	}
	value, err := lw.ParseValue(text)
	return document(value), err
}

// limitedReader reads at most remaining bytes and then returns ErrTooLarge.
type limitedReader struct {
	from      io.Reader
	remaining int
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.remaining == 0 {
		return 0, ErrTooLarge
	}
	n, err := l.from.Read(p[:min(len(p), l.remaining)])
	l.remaining -= n
	return n, err
}
