package cache

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/labels"
)

// Select returns the objects of a namespace that match a label selector, in no particular order. An empty namespace
// means all namespaces. The selector has the syntax of Kubernetes, for example "app=web,tier in (front,back)".
//
// T must have a method GetLabels() map[string]string or, like *lw.Object, Label(string) (string, bool). Select reads
// all objects of the namespace. To find the objects with one label value, an index such as [ByLabel] is faster.
func (l *Lister[T]) Select(namespace, selector string) ([]T, error) {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return nil, errors.New("cache: label selector: " + err.Error())
	}
	var selected []T
	for _, object := range l.List(namespace) {
		get := labelsOf(object)
		if get == nil {
			return nil, errors.New("cache: Lister.Select needs objects with a method GetLabels() map[string]string")
		}
		if parsed.Matches(get) {
			selected = append(selected, object)
		}
	}
	return selected, nil
}

// labelsOf returns a func that reads one label of an object, or nil for a type without labels.
func labelsOf(object any) func(key string) (string, bool) {
	switch object := object.(type) {
	case interface{ GetLabels() map[string]string }:
		all := object.GetLabels()
		return func(key string) (string, bool) { value, ok := all[key]; return value, ok }
	case interface{ Label(string) (string, bool) }:
		return object.Label
	}
	return nil
}
