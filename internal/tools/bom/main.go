// Command bom adds a bill of materials in the CycloneDX 1.6 format to a release folder that contains lwcat for each
// platform. The output is reproducible.
//
//	go run ./internal/tools/bom FOLDER
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

type object = map[string]any

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bom FOLDER")
		os.Exit(2)
	}
	if err := writeBOM(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bom:", err)
		os.Exit(1)
	}
}

// writeBOM lists Go and all modules that the programs in folder contain. The npm package's WASM module contains a
// subset of them.
func writeBOM(folder string) error {
	programs, err := filepath.Glob(filepath.Join(folder, "lwcat-*"))
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return fmt.Errorf("no lwcat program in %s", folder)
	}
	var main object
	libraries := map[string]object{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		main = component("application", &info.Main)
		goVersion := strings.TrimPrefix(info.GoVersion, "go")
		for _, module := range append(info.Deps, &debug.Module{Path: "std", Version: goVersion}) {
			library := component("library", module)
			libraries[library["purl"].(string)] = library
		}
	}
	purls := slices.Sorted(maps.Keys(libraries))
	var components []object
	for _, purl := range purls {
		components = append(components, libraries[purl])
	}
	text, err := json.MarshalIndent(object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     object{"component": main},
		"components":   components,
		"dependencies": []object{{"ref": main["bom-ref"], "dependsOn": purls}},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "sbom.cdx.json"), append(text, '\n'), 0o644)
}

func component(kind string, module *debug.Module) object {
	purl := "pkg:golang/" + module.Path + "@" + module.Version
	return object{"type": kind, "bom-ref": purl, "name": module.Path, "version": module.Version, "purl": purl}
}
