//go:build !js

package kubeconfig

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/nearest"

	"go.yaml.in/yaml/v3"
)

// maxFile is the largest kubeconfig that is read, in bytes: thousands of clusters.
const maxFile = 8 << 20

// kinds are what the elements of a kubeconfig's lists are called.
var kinds = []string{"context", "cluster", "user"}

// entry is an element of one of the lists.
type entry struct {
	kind, name string
	file       string
	node       *yaml.Node
}

// location returns where errors of the entry are.
func (e *entry) location() *Error {
	return &Error{File: e.file, Entry: e.kind + " " + strconv.Quote(e.name)}
}

// fields are the entry's.
func (e *entry) fields() *fields { return read(e.node, "", e.location()) }

// mergedFiles are the combined entries of all files.
type mergedFiles struct {
	files   []string                     // those that exist
	current struct{ text, file string }  // the name of the context, and who says so
	entries map[string]map[string]*entry // by kind and name
}

// merge reads the files, the one that counts most first.
func (o *Options) merge() (*mergedFiles, error) {
	m := &mergedFiles{entries: map[string]map[string]*entry{"context": {}, "cluster": {}, "user": {}}}
	for _, path := range o.paths() {
		text, err := load(path)
		if errors.Is(err, fs.ErrNotExist) && o.Path == "" {
			continue
		}
		if err == nil {
			err = m.add(path, text)
		} else {
			err = &Error{File: path, Err: stripPathError(err)}
		}
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// paths are those to read, the one that counts most first.
func (o *Options) paths() (paths []string) {
	if o.Path != "" {
		return []string{o.Path}
	}
	if listed := os.Getenv("KUBECONFIG"); listed != "" {
		for _, path := range filepath.SplitList(listed) {
			if path != "" && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
		return paths
	}
	if home, err := os.UserHomeDir(); err == nil {
		return []string{filepath.Join(home, ".kube", "config")}
	}
	return nil
}

func load(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("it is larger than 8 MiB, and so no kubeconfig")
	}
	return text, err
}

// stripPathError removes the path and the operation from an error that repeats them.
func stripPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// add takes what the files before have not said.
func (m *mergedFiles) add(path string, text []byte) error {
	root, err := parse(text)
	if err != nil {
		return &Error{File: path, Err: err}
	}
	m.files = append(m.files, path)
	place := &Error{File: path}
	top := read(root, "", place)
	if kind, version := top.string("kind"), top.string("apiVersion"); kind != "" && kind != "Config" || version != "" && version != "v1" {
		top.fail("kind", root, "it is no Config of version v1")
	}
	if current := top.string("current-context"); m.current.text == "" {
		m.current.text, m.current.file = current, path
	}
	for _, kind := range kinds {
		plural, here := kind+"s", map[string]bool{}
		for i, node := range top.list(plural) {
			element := read(node, plural+"["+strconv.Itoa(i)+"].", place)
			name := element.string("name")
			if here[name] {
				element.fail("name", node, "there is another "+kind+" "+strconv.Quote(name))
			}
			here[name] = true
			if m.entries[kind][name] == nil {
				m.entries[kind][name] = &entry{kind: kind, name: name, file: path, node: element.members[kind]}
			}
		}
	}
	return top.err()
}

// parse returns the first document, which may be JSON, as that is YAML; nil if there is none.
func parse(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		what := strings.TrimPrefix(err.Error(), "yaml: ")
		switch {
		case strings.Contains(what, "unknown anchor"): // which may be a password
			what = "an alias has no anchor; what begins with * must be in quotes"
		case strings.Contains(what, "cannot start any token"):
			what += "; YAML is indented with spaces, and what begins with a tab, @, % or ` must be in quotes"
		}
		return nil, errors.New(what)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

func (m *mergedFiles) names(kind string) []string {
	names := slices.Sorted(maps.Keys(m.entries[kind]))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// find returns an entry, or the reason why there is none of that name.
func (m *mergedFiles) find(kind, name string) (*entry, error) {
	if found := m.entries[kind][name]; found != nil {
		return found, nil
	}
	return nil, &UnknownError{Kind: kind, Name: name, Near: nearest.To(name, m.names(kind))}
}
