package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// resourceOptions selects the collections to follow.
type resourceOptions struct {
	names         []string // resources and paths
	namespaces    []string // from the flags; "" means all namespaces
	allNamespaces bool
	labels        string
	fields        string
	metadataOnly  bool
	shard         string
	shardSelector string
	replaying     bool // with --replay, resource names are optional
}

func (o *resourceOptions) flags(set *pflag.FlagSet) {
	set.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "`NAME` of a namespace, or several: a,b; the default is the context's namespace, or \"default\"")
	set.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "follow objects in all namespaces")
	set.StringVarP(&o.labels, "selector", "l", "", "`LABELS`, for example app=web,tier!=db")
	set.StringVar(&o.fields, "field-selector", "", "`FIELDS`, for example spec.nodeName=n1")
	set.BoolVar(&o.metadataOnly, "metadata-only", false, "request only the metadata of objects")
	set.StringVar(&o.shard, "shard", "", "follow part `I/N` of each collection, for example 1/3; objects are assigned by a hash of their UID; needs Kubernetes 1.36 with the feature gate ShardedListAndWatch")
}

func (o *resourceOptions) validate() (err error) {
	names := split(o.names)
	if len(names) == 0 && !(o.replaying && len(o.names) == 0) {
		return errors.New("no resource given: name one, for example pods")
	}
	for _, name := range names {
		if err := o.validateName(name); err != nil {
			return err
		}
	}
	o.namespaces = compact(o.namespaces)
	if len(o.namespaces) > 0 && len(names) > 0 && !slices.ContainsFunc(names, o.usesNamespace) {
		return errors.New("--namespace does not apply to paths: write the namespace into the path, for example /api/v1/namespaces/shop/pods")
	}
	if o.allNamespaces {
		o.namespaces = []string{""}
	}
	if o.shard != "" {
		o.shardSelector, err = shardSelector(o.shard)
	}
	return err
}

// validateName rejects a malformed name before lwcat sends a request.
func (o *resourceOptions) validateName(name string) error {
	if strings.HasPrefix(name, "/") {
		_, err := fromPath(name, o)
		return err
	}
	word, object, slash := strings.Cut(name, "/")
	if word == "" || slash && (object == "" || strings.Contains(object, "/")) {
		return fmt.Errorf("%q does not name an object: expected a name such as pod/web-0, with the namespace in -n", name)
	}
	return nil
}

// usesNamespace reports whether -n applies to a name. It applies to a path only if the path contains that namespace.
func (o *resourceOptions) usesNamespace(name string) bool {
	return !strings.HasPrefix(name, "/") || slices.ContainsFunc(o.namespaces, func(namespace string) bool {
		return strings.Contains(name, "/namespaces/"+namespace+"/")
	})
}

// compact removes empty and duplicate names.
func compact(names []string) (kept []string) {
	for _, name := range names {
		if name != "" && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return kept
}
