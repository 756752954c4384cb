package docs

import (
	"fmt"
	"go/types"
	"path"
	"regexp"
	"strings"
)

const module = "github.com/seed-6d2a410a/listwatch/"

// Names returns the import paths of packages that fragments may use without an import, by package name.
func Names() map[string]string {
	names := map[string]string{
		"lwhttp":  module + "transport/http",
		"lwws":    module + "transport/ws",
		"require": "github.com/stretchr/testify/require",
	}
	for _, folder := range []string{
		"lw", "lw/codec", "lwtest", "cache", "cache/catalog", "cache/compact", "cache/savefile", "cache/workqueue",
		"transport/fallback", "transport/kubeconfig", "examples/etcd",
	} {
		names[path.Base(folder)] = module + folder
	}
	for _, std := range []string{"context", "errors", "fmt", "net/http", "io", "log", "os", "strings", "sync", "testing", "time"} {
		names[path.Base(std)] = std
	}
	return names
}

// Given returns the types of variables that fragments may use without a declaration, by variable name.
func Given() map[string]string {
	return map[string]string{
		"ctx":         "context.Context",
		"err":         "error",
		"transport":   "*lwhttp.Transport",
		"client":      "*lw.Client[*lw.Object]",
		"informer":    "*cache.Informer[*lw.Object]",
		"store":       "*cache.Store[*lw.Object]",
		"queue":       "*workqueue.Queue[lw.Key]",
		"server":      "*lwtest.Server",
		"pod":         "*lw.Object",
		"created":     "*lw.Object", // result of a write
		"isScheduled": "func(*lw.Object) bool",
		"reconcile":   "func(context.Context, lw.Key) error",
		"connect":     "func(server string) (*lw.Client[*lw.Object], error)",
		"handler":     "func(*cache.Informer[*lw.Object]) http.Handler",
	}
}

// Span matches inline code in Markdown: text between backquotes on one line.
var Span = regexp.MustCompile("`([^`\n]+)`")

var qualified = regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*)(?:\.(\w+))?`)

// Find reports whether span starts with a qualified name from a package in Names, such as "cache.Store.Get" or
// "lw.Options{…}". It returns an error if the package does not contain the name.
func (c *Compiler) Find(span string) (is bool, err error) {
	match := qualified.FindStringSubmatch(span)
	if match == nil || c.module.Names[match[1]] == "" {
		return false, nil
	}
	pkg, err := c.importer.Import(c.module.Names[match[1]])
	if err != nil {
		return true, err
	}
	object := pkg.Scope().Lookup(match[2])
	if object == nil {
		return true, fmt.Errorf("%s has no %s", pkg.Path(), match[2])
	}
	if member := match[3]; member != "" {
		if found, _, _ := types.LookupFieldOrMethod(object.Type(), true, pkg, member); found == nil {
			return true, fmt.Errorf("%s.%s has no %s", pkg.Path(), match[2], member)
		}
	}
	return true, nil
}

// Row is a row of a Markdown table, together with the table's header.
type Row struct {
	Header, Cells []string // slices of the same length
	Text          string
}

// Tables returns the rows of all tables in Markdown text without code blocks.
func Tables(text string) (rows []Row) {
	var header []string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			header = nil
		case header == nil:
			header = cells
		case !strings.HasPrefix(line, "| ---"):
			both := min(len(header), len(cells))
			rows = append(rows, Row{header[:both], cells[:both], line})
		}
	}
	return rows
}
