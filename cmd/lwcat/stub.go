package main

import (
	"encoding/json"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// A stub stands for an object of which --resume has kept the name and versions only.

func stubOf(key string, o keptObject) (*lw.Object, error) {
	var m struct {
		Metadata struct {
			Namespace       string `json:"namespace,omitempty"`
			Name            string `json:"name"`
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	m.Metadata.Name = key
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

func isStub(o *lw.Object) bool {
	return !o.Get("kind").Exists() && strings.HasPrefix(o.Raw(), `{"metadata":{`)
}

func sameVersion(a, b *lw.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion()
}
