package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// entries are the names of the modules that CommonJS code may load, without their extension.
var entries = []string{"index", "react", "testing", "openshift", "glue"}

// writeCommonJS writes a CommonJS copy (.cjs) of each module that the entry points load, and a copy (.d.cts) of the
// entry points' type declarations. Test runners such as Jest load the copies. A copy loads only other copies, so that
// no module is loaded twice.
func writeCommonJS(folder string) error {
	written := map[string]bool{}
	for queue := entries; len(queue) > 0; queue = queue[1:] {
		file := filepath.Join(folder, queue[0])
		if written[file+".cjs"] {
			continue
		}
		module, err := os.ReadFile(file + ".js")
		if err != nil {
			return err
		}
		script, imported, err := asCommonJS(module)
		if err != nil {
			return fmt.Errorf("%s.js: %w", file, err)
		}
		if err := replace(file+".cjs", script); err != nil {
			return err
		}
		written[file+".cjs"] = true
		queue = append(queue, imported...)
	}
	for _, entry := range entries {
		types, err := os.ReadFile(filepath.Join(folder, entry+".d.ts"))
		if err != nil {
			return err
		}
		types = bytes.ReplaceAll(types, []byte(`.js'`), []byte(`.cjs'`))
		if err := replace(filepath.Join(folder, entry+".d.cts"), types); err != nil {
			return err
		}
	}
	// Copies of modules that no longer exist must not be published.
	copies, err := filepath.Glob(filepath.Join(folder, "*.cjs"))
	for _, file := range copies {
		if err == nil && !written[file] {
			err = os.Remove(file)
		}
	}
	return err
}

var (
	imports    = regexp.MustCompile(`(?m)^import (\{[^}]*\}) from '([^']+)'$`)
	reexports  = regexp.MustCompile(`(?m)^export (\{[^}]*\}) from '([^']+)'$`)
	exports    = regexp.MustCompile(`(?m)^export ((?:async )?function\*?|class|const|let) (\w.*)$`)
	leftover   = regexp.MustCompile(`(?m)^(?:import|export)\b.*$`)
	identifier = regexp.MustCompile(`^[\w$]+`)
	dynamic    = regexp.MustCompile(`\bawait import\('([^']+)'\)`)
	numbers    = regexp.MustCompile(`(?m)^export (const (?:\w+ = -?\d+,\s+)+\w+ = -?\d+)$`)
	number     = regexp.MustCompile(`(\w+) = `)
)

// lazy is the module that loads the WASM module. A CommonJS copy loads it only when the exported function of the module
// is called, because the module needs classes that Jest's jsdom environment lacks. Tests that simulate a cluster never
// call this function.
const lazy = "./connect.js"

// decoders is JavaScript code that defines TextDecoder and TextEncoder. Jest's jsdom environment lacks these classes.
const decoders = "const { TextDecoder, TextEncoder } = globalThis.TextDecoder ? globalThis : process.getBuiltinModule('node:util')\n"

// asCommonJS converts a module to CommonJS. It also returns the names of the package's modules that the module imports.
// It supports only the forms of import and export that the package uses, and returns an error for all other forms.
func asCommonJS(module []byte) (script []byte, imported []string, err error) {
	var names []string
	require := func(specifier string) string {
		if base, ok := strings.CutPrefix(specifier, "./"); ok {
			base = strings.TrimSuffix(base, ".js")
			imported = append(imported, base)
			specifier = "./" + base + ".cjs"
		}
		return "require('" + specifier + "')"
	}
	text := reexports.ReplaceAllStringFunc(string(module), func(s string) string {
		parts := reexports.FindStringSubmatch(s)
		return "Object.assign(exports, (({ " + strings.Trim(parts[1], "{ }") + " }) => (" + parts[1] + "))(" + require(parts[2]) + "))"
	})
	text = imports.ReplaceAllStringFunc(text, func(s string) string {
		parts := imports.FindStringSubmatch(s)
		if function := strings.Trim(parts[1], "{ }"); parts[2] == lazy {
			return "const " + function + " = (...args) => " + require(parts[2]) + "." + function + "(...args)"
		}
		return "const " + strings.ReplaceAll(parts[1], " as ", ": ") + " = " + require(parts[2])
	})
	text = dynamic.ReplaceAllStringFunc(text, func(s string) string { return require(dynamic.FindStringSubmatch(s)[1]) })
	text = numbers.ReplaceAllStringFunc(text, func(s string) string {
		for _, found := range number.FindAllStringSubmatch(s, -1) {
			names = append(names, found[1])
		}
		return strings.TrimPrefix(s, "export ")
	})
	text = exports.ReplaceAllStringFunc(text, func(s string) string {
		parts := exports.FindStringSubmatch(s)
		names = append(names, identifier.FindString(parts[2]))
		return parts[1] + " " + parts[2]
	})
	if bad := leftover.FindString(text); bad != "" {
		return nil, nil, fmt.Errorf("unsupported syntax: %s", bad)
	}
	text = strings.ReplaceAll(text, "import.meta.url", `('file://' + __filename.replace(/[%#?]/g, encodeURIComponent))`)
	if strings.Contains(text, "TextDecoder") {
		text = decoders + text
	}
	if directive, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(directive, "'use ") {
		text = directive + "\n'use strict'\n" + rest
	} else {
		text = "'use strict'\n" + text
	}
	return []byte(text + "Object.assign(exports, { " + strings.Join(names, ", ") + " })\n"), imported, nil
}
