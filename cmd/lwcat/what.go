package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
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
