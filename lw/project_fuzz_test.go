package lw

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// everyElement represents [*] in the paths of FuzzProjection. It cannot occur in JSON.
const everyElement = "\xff"

// FuzzProjection compares projections with the results of selectAny, which selects the same fields from an object that
// encoding/json decoded.
func FuzzProjection(f *testing.F) {
	choice := [][]string{{"metadata"}, {"metadata", "labels"}, {"metadata", "managedFields"}, {"metadata", "annotations", "a.b"},
		{"spec"}, {"spec", "nodeName"}, {"spec", "containers", everyElement, "image"}, {"spec", "containers", everyElement, "ports", everyElement},
		{"status", "conditions", everyElement}, {"status", "phase"}, {"status", "a", "b", "c"}, {"a", everyElement, everyElement, "b"}, {"a", "b"}}
	f.Add([]byte(sample.Pods(1, 1)[0].JSON()), uint16(0b0011_0100_1010))
	f.Add([]byte(`{"a":[[{"b":1,"c":2}],{"b":[]},"x",null],"metadata":{"annotations":{"a.b":1,"c":2}}}`), uint16(0b1_1000_0000_1000))
	f.Add([]byte(`{"spec" : "x" , "\u0073pec":{"nodeName":1,"x":2,"nodeName":{}},"metadata":{"managedFields":0,"labels":[]}}`), uint16(0b10_0011))
	f.Fuzz(func(t *testing.T, text []byte, chosen uint16) {
		var selected [][]string
		var paths []string
		for i, names := range choice {
			if chosen>>i&1 == 1 {
				selected, paths = append(selected, names), append(paths, pathOf(names))
			}
		}
		object := projectEachWay(t, text, project(t, paths...))
		if object == nil {
			return
		}
		require.Equal(t, selectAny(decodeAny(t, string(text)), selected), decodeAny(t, object.Raw()))

		if chosen&1 == 1 {
			return // the path metadata is invalid for Omit
		}
		omitted, err := Omit(paths...)
		require.NoError(t, err)
		object = projectEachWay(t, text, omitted)
		require.Equal(t, omitAny(decodeAny(t, string(text)), selected), decodeAny(t, object.Raw()))
	})
}

// omitAny returns a copy of a value without the selected paths.
func omitAny(value any, paths [][]string) any {
	beneath := map[string][][]string{}
	for _, path := range paths {
		beneath[path[0]] = append(beneath[path[0]], path[1:])
	}
	// goes reports whether one of the paths ends at this name, so that the whole member must go. Otherwise, it returns the
	// remainders of the paths that lead into this member.
	goes := func(name string) (whole bool, rest [][]string) {
		for _, path := range beneath[name] {
			if len(path) == 0 {
				return true, nil
			}
			rest = append(rest, path)
		}
		return false, rest
	}
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, member := range v {
			if whole, rest := goes(name); !whole {
				kept[name] = omitAny(member, rest)
			}
		}
		return kept
	case []any:
		kept := []any{}
		whole, rest := goes(everyElement)
		for _, element := range v {
			if !whole {
				kept = append(kept, omitAny(element, rest))
			}
		}
		return kept
	}
	return value
}

// projectEachWay projects an object after the scan, during the scan, and during a scan that reads single bytes. It
// requires equal results and returns the projected object.
func projectEachWay(t *testing.T, text []byte, p RawCodec) *Object {
	scan := func(s scanner, o *Scanned) (*Object, error) {
		s.Mark()
		if s.object(o); s.Err() != nil {
			return nil, s.Err()
		}
		o.body = s.Frame()
		object, err := p.Decode(o)
		require.NoError(t, err)
		require.True(t, p.Identity().Same(object, o))
		require.Equal(t, object.Raw(), string(p.AppendText(nil, o)))
		s.End("the end of the text")
		return object, s.Err()
	}
	later, errLater := scan(newScanner(bytes.NewReader(text), 0, nil), &Scanned{managed: true})
	object, err := scan(newScanner(bytes.NewReader(text), 0, nil), &Scanned{keep: p.keep, managed: true})
	single, errSingle := scan(newScanner(iotest.OneByteReader(bytes.NewReader(text)), 0, nil), &Scanned{keep: p.keep, managed: true})
	require.Equal(t, errLater, err)
	require.Equal(t, errSingle, err)
	if err != nil {
		return nil
	}
	require.Equal(t, later, object)
	require.Equal(t, single, object)
	return object
}

func pathOf(names []string) (path string) {
	for _, name := range names {
		if name == everyElement {
			path += "[*]"
		} else {
			path += "." + strings.ReplaceAll(name, ".", `\.`)
		}
	}
	return strings.TrimPrefix(path, ".")
}

// selectAny returns a copy of an object with only the selected paths and the required metadata.
func selectAny(object any, selected [][]string) any {
	paths := [][]string{{"kind"}, {"apiVersion"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}, {"metadata", "resourceVersion"}}
	for _, path := range selected {
		if len(path) > 1 || path[0] != "metadata" {
			paths = append(paths, path)
			continue
		}
		metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
		for name := range metadata {
			paths = append(paths, []string{"metadata", name})
		}
	}
	return keepAny(object, paths)
}

func keepAny(value any, paths [][]string) any {
	beneath := map[string][][]string{}
	for _, path := range paths {
		if len(path) == 0 {
			return value
		}
		beneath[path[0]] = append(beneath[path[0]], path[1:])
	}
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, member := range v {
			if beneath[name] != nil {
				kept[name] = keepAny(member, beneath[name])
			}
		}
		return kept
	case []any:
		kept := []any{}
		for _, element := range v {
			if beneath[everyElement] != nil {
				kept = append(kept, keepAny(element, beneath[everyElement]))
			}
		}
		return kept
	case string:
		return ""
	}
	return value
}
