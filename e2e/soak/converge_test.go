package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// converge waits until every follower's store matches the server's list.
func (s *soak) converge(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, convergenceTime)
	defer cancel()
	for _, f := range s.followers {
		err := kube.Poll(ctx, "the store of "+f.name+" to match the server's list", func(ctx context.Context) error {
			want, err := s.list(ctx, f.opts.LabelSelector)
			if err != nil {
				return err
			}
			return f.equals(want)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verify checks that each follower's store contains exactly the objects that result from its changes. The followers
// must have stopped.
func (s *soak) verify() (err error) {
	for _, f := range s.followers {
		if wrong := f.verify(); wrong != nil {
			err = errors.Join(err, f.explain(wrong))
		}
	}
	return err
}

// list returns the ConfigMaps that match selector. It maps each name to canonical JSON without managedFields.
func (s *soak) list(ctx context.Context, selector string) (map[string]string, error) {
	code, body, err := s.cluster.Do(ctx, http.MethodGet, path+"?labelSelector="+url.QueryEscape(selector), "", "")
	if err != nil {
		return nil, err
	}
	if code != http.StatusOK {
		return nil, fmt.Errorf("listing ConfigMaps: status %d", code)
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	objects := make(map[string]string, len(list.Items))
	for _, item := range list.Items {
		metadata := item["metadata"].(map[string]any)
		delete(metadata, "managedFields")
		item["kind"], item["apiVersion"] = "ConfigMap", "v1" // list items have no kind and apiVersion
		if objects[metadata["name"].(string)], err = canonical(item); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// canonical encodes a value as JSON. Equal values have equal encodings.
func canonical(content any) (string, error) {
	text, err := json.Marshal(content)
	return string(text), err
}

// equals returns an error if the store does not contain exactly the given objects.
func (f *follower) equals(want map[string]string) error {
	objects := f.informer.Store().List()
	for _, object := range objects {
		got, err := content(object)
		if err != nil {
			return err
		}
		if wanted := want[object.GetName()]; got != wanted {
			return fmt.Errorf("the store has %s\nthe server has %s", got, wanted)
		}
	}
	if len(objects) != len(want) {
		return fmt.Errorf("the store has %d objects, the server has %d", len(objects), len(want))
	}
	return nil
}

// verify returns an error if the store does not contain exactly the objects in f.replay.
func (f *follower) verify() error {
	for _, object := range f.informer.Store().List() {
		if f.replay.held[lw.KeyOf(object)] != object {
			return fmt.Errorf("stored object %v differs from the object in its last change", lw.KeyOf(object))
		}
	}
	if known, stored := len(f.replay.held), f.informer.Store().Len(); known != stored {
		return fmt.Errorf("the changes add up to %d objects, but the store has %d", known, stored)
	}
	return nil
}

func content(object *lw.Object) (string, error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(object.Raw()), &all); err != nil {
		return "", err
	}
	return canonical(all)
}
