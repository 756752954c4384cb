package main

import (
	"encoding/json"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func newStub(key string, p *progress) (*lw.Object, error) {
	o := p.Objects[key]
	var m struct {
		Kind       string `json:"kind,omitempty"`
		APIVersion string `json:"apiVersion,omitempty"`
		Metadata   struct {
			Namespace       string `json:"namespace,omitempty"`
			Name            string `json:"name"`
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	m.Kind, m.APIVersion, m.Metadata.Name = p.Kind, p.APIVersion, key
	if namespace, name, found := strings.Cut(key, "/"); found {
		m.Metadata.Namespace, m.Metadata.Name = namespace, name
	}
	m.Metadata.UID, m.Metadata.ResourceVersion = o.UID, o.ResourceVersion
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return lw.ParseObject(text)
}

// isStub reports whether an object is a stub. Every object from a server has a creation timestamp, but stubs have none.
func isStub(o *lw.Object) bool { return !o.Get("metadata.creationTimestamp").Exists() }

func sameVersion(a, b *lw.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion()
}
