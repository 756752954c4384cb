package kube

import (
	"context"
	"net/http"
)

const (
	crdsPath    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgetsPath = "/apis/lw.example.com/v1/widgets"
	widgetsName = "widgets.lw.example.com"
)

// widgetsCRD defines a namespaced custom resource that may have any fields.
const widgetsCRD = `{
  "apiVersion": "apiextensions.k8s.io/v1",
  "kind": "CustomResourceDefinition",
  "metadata": {"name": "` + widgetsName + `"},
  "spec": {
    "group": "lw.example.com",
    "scope": "Namespaced",
    "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
    "versions": [{
      "name": "v1", "served": true, "storage": true,
      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
    }]
  }
}`

// CreateCRD defines the custom resource widgets.lw.example.com/v1 of kind Widget, and blocks until the API server
// serves it. It may be called again.
func (c *Cluster) CreateCRD(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	code, body, err := c.Do(ctx, http.MethodPost, crdsPath, jsonType, widgetsCRD)
	if err != nil {
		return err
	}
	if code != http.StatusCreated && code != http.StatusConflict {
		return statusError(http.MethodPost, crdsPath, code, body)
	}
	return Poll(ctx, widgetsName+" to be served", func(ctx context.Context) error {
		_, err := c.get(ctx, widgetsPath)
		return err
	})
}
