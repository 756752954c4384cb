package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// entries are the entry points of the package that CommonJS code can require, without their extension.
var entries = []string{"index", "react", "testing", "openshift", "glue"}

// writeCommonJS writes a CommonJS copy of each module that the entry points load: a .cjs file next to the .js file, and a
// .d.cts file next to the .d.ts file. Test runners such as Jest load these copies. The copies of one package share their
// state, because they require each other.
func writeCommonJS(folder string) error {
	seen := map[string]bool{}
	for queue := entries; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if seen[name] {
			continue
		}
		seen[name] = true
		module, err := os.ReadFile(filepath.Join(folder, name+".js"))
		if err != nil {
			return err
		}
		script, imported, err := asCommonJS(module)
		if err != nil {
			return fmt.Errorf("%s.js: %w", name, err)
		}
		if err := replace(filepath.Join(folder, name+".cjs"), script); err != nil {
			return err
		}
		queue = append(queue, imported...)
	}
	for _, name := range entries {
		types, err := os.ReadFile(filepath.Join(folder, name+".d.ts"))
		if err != nil {
			return err
		}
		types = bytes.ReplaceAll(types, []byte(`.js'`), []byte(`.cjs'`))
		if err := replace(filepath.Join(folder, name+".d.cts"), types); err != nil {
			return err
		}
	}
	return nil
}

var (
	imports   = regexp.MustCompile(`(?m)^import (\{[^}]*\}) from '([^']+)'$`)
	reexports = regexp.MustCompile(`(?m)^export (\{[^}]*\}) from '([^']+)'$`)
	exports   = regexp.MustCompile(`(?m)^export ((?:async )?function\*?|class|const|let) (\w.*)$`)
	leftover  = regexp.MustCompile(`(?m)^(?:import|export)\b.*$`)
	name      = regexp.MustCompile(`^[\w$]+`)
	numbers   = regexp.MustCompile(`(?m)^export (const (?:\w+ = -?\d+,\s+)+\w+ = -?\d+)$`)
	number    = regexp.MustCompile(`(\w+) = `)
)

// lazy is the module that loads the WASM module. Its only export is a function, which loads it on the first call. Tests that
// simulate a cluster never call it, and Jest's environment with jsdom lacks classes that it needs.
const lazy = "./connect.js"

// decoders defines the classes that Jest's environment with jsdom lacks.
const decoders = "const { TextDecoder, TextEncoder } = globalThis.TextDecoder ? globalThis : process.getBuiltinModule('node:util')\n"

// asCommonJS returns a module as CommonJS code, and the names of the modules of the package that it imports. It knows only
// the syntax that this package uses, and returns an error for any other import or export.
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
	text = numbers.ReplaceAllStringFunc(text, func(s string) string {
		for _, found := range number.FindAllStringSubmatch(s, -1) {
			names = append(names, found[1])
		}
		return strings.TrimPrefix(s, "export ")
	})
	text = exports.ReplaceAllStringFunc(text, func(s string) string {
		parts := exports.FindStringSubmatch(s)
		names = append(names, name.FindString(parts[2]))
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
