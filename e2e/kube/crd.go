package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

const (
	crdsPath    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgetsPath = "/apis/lw.example.com/v1/widgets"
	widgetsName = "widgets.lw.example.com"
)

// widgetsCRD defines a namespaced resource whose objects may hold any fields.
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

// CreateCRD creates the custom resource widgets.lw.example.com/v1, kind Widget, if it does not exist, and blocks until
// it is served.
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
	// The condition Established becomes true shortly before the handler serves requests.
	return Poll(ctx, widgetsName+" to be served", func(ctx context.Context) error {
		if err := c.established(ctx); err != nil {
			return err
		}
		_, err := c.get(ctx, widgetsPath)
		return err
	})
}

// established fails unless the CRD's condition Established is true.
func (c *Cluster) established(ctx context.Context) error {
	body, err := c.get(ctx, crdsPath+"/"+widgetsName)
	if err != nil {
		return err
	}
	var crd struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(body, &crd); err != nil {
		return err
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == "Established" && condition.Status == "True" {
			return nil
		}
	}
	return errors.New("not yet established")
}
