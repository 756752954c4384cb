package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// bom is a bill of materials in the form of CycloneDX 1.6, as far as it is used here.
type bom struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// writeBOM writes what the linker noted in the commands: Go, and all modules that were compiled, with their versions. The
// program in the JavaScript package has a part of these.
func writeBOM(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "lwcat-*"))
	if err != nil {
		return err
	}
	found := bom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	for _, file := range files {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return err
		}
		found.Metadata.Component = module("application", &info.Main)
		found.add(component{Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")})
		for _, dep := range info.Deps {
			found.add(module("library", dep))
		}
	}
	slices.SortFunc(found.Components, func(a, b component) int { return strings.Compare(a.PURL, b.PURL) })
	all := dependency{Ref: found.Metadata.Component.Ref}
	for _, c := range found.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	found.Dependencies = []dependency{all}
	text, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "sbom.cdx.json"), append(text, '\n'), 0o644)
}

func (b *bom) add(c component) {
	c.Ref = c.PURL
	if !slices.ContainsFunc(b.Components, func(other component) bool { return other.Ref == c.Ref }) {
		b.Components = append(b.Components, c)
	}
}

func module(kind string, m *debug.Module) component {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	return component{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
}
