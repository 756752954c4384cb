package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// accept asks for all at once, of Kubernetes 1.30, or of 1.26; a server that knows neither names its groups.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// Ask asks a server for all that it has: by two requests at once, and one more for each version of each group where it does
// not know aggregated discovery. What a part of the server cannot tell is Missing; the error is for a server that tells
// nothing.
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
		return nil, fmt.Errorf("asking the server what resources it has: %w", err)
	}
	return all, nil
}

// response is what became known of a part of a server.
type response struct {
	resources []Resource
	missing   []string
	err       error // if that is nothing
}

// fetchRoot fetches the resources below /api or /apis.
func fetchRoot(ctx context.Context, transport lw.Transport, root string) (a response) {
	d, err := fetch(ctx, transport, root, accept)
	kind := d.string("kind")
	switch {
	case err == nil && kind == "APIGroupDiscoveryList":
		return d.aggregated()
	case err == nil && (kind == "APIVersions" || kind == "APIGroupList"):
		var all []string
		if all, err = d.groupVersions(); err == nil {
			return fetchAll(ctx, transport, root, all)
		}
	case err == nil:
		err = fmt.Errorf("the answer is no discovery document, but of kind %.40q", kind)
	}
	err = fmt.Errorf("%s: %w", root, err)
	return response{err: err, missing: []string{err.Error()}}
}

// What a server may say of its resources: one with a thousand kinds of its own says half a MiB.
const (
	maxBytes         = 8 << 20 // of a document
	maxGroupVersions = 1000    // each of which is a request
)

// ErrTooLarge says that a server has more to say of its resources than any has.
var ErrTooLarge = errors.New("the answer is too large for what a server says of its resources")

func fetch(ctx context.Context, transport lw.Transport, path, accept string) (document, error) {
	body, err := transport.Open(ctx, &lw.Request{Path: path, Accept: accept})
	if err != nil {
		return "", err
	}
	defer body.Close()
	var text json.RawMessage
	err = json.NewDecoder(&limitedReader{from: body, remaining: maxBytes}).Decode(&text)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return "", fmt.Errorf("the answer is no JSON, as a page of a proxy or of a login is none: %w", err)
	}
	if err != nil {
		return "", err
	}
	value, err := lw.ParseValue(text)
	return document(value), err
}

// limitedReader fails where more comes than may be.
type limitedReader struct {
	from io.Reader
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

// concurrency is how many requests for group versions are under way at the same time.
const concurrency = 8

// fetchAll fetches each group version. Servers before Kubernetes 1.26 have no aggregated discovery.
func fetchAll(ctx context.Context, transport lw.Transport, root string, groupVersions []string) (all response) {
	answers := make([]response, len(groupVersions))
	slots := make(chan struct{}, concurrency)
	var asking sync.WaitGroup
	for i, groupVersion := range groupVersions {
		asking.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i] = fetchGroupVersion(ctx, transport, root, groupVersion)
		})
	}
	asking.Wait()
	for _, a := range answers {
		all.resources = append(all.resources, a.resources...)
		all.missing = append(all.missing, a.missing...)
		all.err = cmp.Or(all.err, a.err)
	}
	return all
}

func fetchGroupVersion(ctx context.Context, transport lw.Transport, root, groupVersion string) response {
	list, err := fetch(ctx, transport, root+"/"+groupVersion, "")
	if err != nil {
		err = fmt.Errorf("%s: %w", groupVersion, err)
		return response{err: err, missing: []string{err.Error()}}
	}
	group, version, found := strings.Cut(groupVersion, "/")
	if !found {
		group, version = "", groupVersion
	}
	return response{resources: list.resources(group, version)}
}
