package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// what is to be followed.
type what struct {
	names         []string // resources and paths
	namespaces    []string // those of the flags; "" for all
	allNamespaces bool
	labels        string
	fields        string
	metadataOnly  bool
	shard         string
	shardSelector string
	recorded      bool // those of --replay need no names
}

func (w *what) flags(set *pflag.FlagSet) {
	set.StringSliceVarP(&w.namespaces, "namespace", "n", nil, "`NAME` of the namespace, or of several: a,b; in place of the context's, or \"default\"")
	set.BoolVarP(&w.allNamespaces, "all-namespaces", "A", false, "follow what is in any namespace")
	set.StringVarP(&w.labels, "selector", "l", "", "`LABELS`, as app=web,tier!=db")
	set.StringVar(&w.fields, "field-selector", "", "`FIELDS`, as spec.nodeName=n1")
	set.BoolVar(&w.metadataOnly, "metadata-only", false, "ask for the objects' metadata and nothing else")
	set.StringVar(&w.shard, "shard", "", "follow part `I/N` of each collection, as 1/3, 2/3 or 3/3, by hashes of UIDs; needs Kubernetes 1.36 with the feature gate ShardedListAndWatch")
}

func (w *what) validate() (err error) {
	names := split(w.names)
	if len(names) == 0 && !(w.recorded && len(w.names) == 0) {
		return errors.New("no resource: name one, as pods")
	}
	for _, name := range names {
		if err := w.checkName(name); err != nil {
			return err
		}
	}
	w.namespaces = unique(w.namespaces)
	if len(w.namespaces) > 0 && len(names) > 0 && !slices.ContainsFunc(names, w.heedsNamespace) {
		return errors.New("--namespace is for names: a path has its own, as /api/v1/namespaces/shop/pods")
	}
	if w.allNamespaces {
		w.namespaces = []string{""}
	}
	if w.shard != "" {
		w.shardSelector, err = shardSelector(w.shard)
	}
	return err
}

// checkName finds what is wrong with a name whatever the server has.
func (w *what) checkName(name string) error {
	if strings.HasPrefix(name, "/") {
		_, err := fromPath(name, w)
		return err
	}
	word, object, slash := strings.Cut(name, "/")
	if word == "" || slash && (object == "" || strings.Contains(object, "/")) {
		return fmt.Errorf("%q names no object: expected one as pod/web-0, in the namespace that -n says", name)
	}
	return nil
}

// heedsNamespace reports whether a name is followed in the namespaces that are asked for: a path is, if it says so itself.
func (w *what) heedsNamespace(name string) bool {
	return !strings.HasPrefix(name, "/") || slices.ContainsFunc(w.namespaces, func(namespace string) bool {
		return strings.Contains(name, "/namespaces/"+namespace+"/")
	})
}

// unique drops what is empty or there before.
func unique(names []string) (kept []string) {
	for _, name := range names {
		if name != "" && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// ours are the parameters that the engine sets, which stand in paths that were copied from a log.
var ours = []string{
	"watch", "resourceVersion", "resourceVersionMatch", "timeout", "timeoutSeconds", "allowWatchBookmarks", "sendInitialEvents",
	"limit", "continue",
}

// fromPath returns the collection at a path. The path may be an old one for watches, as /api/v1/watch/pods, and name one object.
func fromPath(raw string, w *what) (resource lw.Resource, err error) {
	path, query, _ := strings.Cut(raw, "?")
	resource.Raw, resource.Name, err = collection(strings.TrimSuffix(path, "/"))
	values, queryErr := url.ParseQuery(query)
	switch {
	case cmp.Or(err, queryErr) != nil:
		return resource, fmt.Errorf("%s: %w", raw, cmp.Or(err, queryErr))
	case resource.Raw == "":
		return resource, fmt.Errorf("%s names no collection: expected a path as /api/v1/pods", raw)
	case values.Has("labelSelector") && w.labels != "", values.Has("fieldSelector") && (w.fields != "" || resource.Name != ""):
		return resource, fmt.Errorf("%s: it has a selector of its own, and one is all that a server heeds", raw)
	}
	for _, name := range ours {
		values.Del(name)
	}
	if query = values.Encode(); query != "" {
		resource.Raw += "?" + query
	}
	return resource, nil
}

// collection makes of a path that of a collection, and the name of the one object that it is of. Paths that are not an API
// server's stay as they are.
func collection(path string) (collection, object string, err error) {
	parts := strings.Split(path, "/") // the first is empty
	root := 3                         // of /api/v1/pods
	if len(parts) > 1 && parts[1] == "apis" {
		root = 4 // of /apis/apps/v1/deployments
	}
	if len(parts) <= root || parts[1] != "api" && parts[1] != "apis" {
		return path, "", nil
	}
	if parts[root] == "watch" {
		parts = slices.Delete(parts, root, root+1)
	}
	plural := root // where that stands
	if len(parts) > root+2 && parts[root] == "namespaces" {
		plural = root + 2
	}
	switch len(parts) - plural {
	case 1:
	case 2:
		if object, err = url.PathUnescape(parts[plural+1]); err != nil {
			return "", "", err
		}
		parts = parts[:plural+1]
	default:
		return "", "", errors.New("it is the path of neither a collection nor an object")
	}
	return strings.Join(parts, "/"), object, nil
}

// shardSelector returns the selector of KEP-5866 for a part such as "1/3": of the hashes, which are 64 bits, a range that is
// open at its end. That of the last one is 2^64.
func shardSelector(shard string) (string, error) {
	part, parts, _ := strings.Cut(shard, "/")
	i, errI := strconv.ParseUint(part, 10, 16)
	n, errN := strconv.ParseUint(parts, 10, 16)
	if errI != nil || errN != nil || i < 1 || i > n {
		return "", fmt.Errorf("--shard %s: expected a part and the number of parts, as 1/3, 2/3 or 3/3", shard)
	}
	bound := func(i uint64) string {
		if i == n {
			return "0x10000000000000000"
		}
		hash, _ := bits.Div64(i, 0, n) // of 2^64
		return fmt.Sprintf("0x%016x", hash)
	}
	return fmt.Sprintf("shardRange(object.metadata.uid,'%s','%s')", bound(i-1), bound(i)), nil
}

// shards finds out whether the server heeds --shard, before too much is printed: one that does not know it lists all. Other
// errors will come again.
func (s *stream) shards(ctx context.Context, client *lw.Client[*lw.Object]) error {
	selector := s.config.what.shardSelector
	if selector == "" {
		return nil
	}
	for _, err := range client.List(ctx, lw.ListOptions{ShardSelector: selector, Limit: 1}, &lw.ListMeta{}) {
		if errors.Is(err, lw.ErrShardIgnored) {
			return fmt.Errorf("%s: %w", s.resource, err)
		}
	}
	return nil
}
