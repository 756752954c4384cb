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

	"go.yaml.in/yaml/v3"
)

// maxFile is the maximum size of a kubeconfig in bytes.
const maxFile = 8 << 20

// kinds lists the types of named entries in a kubeconfig.
var kinds = []string{"context", "cluster", "user"}

// entry is a named context, cluster or user in a kubeconfig file.
type entry struct {
	kind, name string
	file       string
	node       *yaml.Node
}

// location returns an Error with the file and the name of the entry. The caller adds the cause.
func (e *entry) location() *Error {
	return &Error{File: e.file, Entry: e.kind + " " + strconv.Quote(e.name)}
}

func (e *entry) fields() *fields { return read(e.node, "", e.location()) }

// mergedFiles contains the combined entries of all kubeconfig files.
type mergedFiles struct {
	files   []string                     // paths of the files that exist
	current struct{ text, file string }  // name of the current context and the file that sets it
	entries map[string]map[string]*entry // entries by type, for example "user", and by name
}

// merge reads all kubeconfig files and returns their combined entries.
func (o *options) merge() (*mergedFiles, error) {
	m := &mergedFiles{entries: map[string]map[string]*entry{"context": {}, "cluster": {}, "user": {}}}
	for _, path := range o.paths() {
		text, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) && o.Path == "" {
			continue
		}
		if err == nil {
			err = m.add(path, text)
		} else {
			err = &Error{File: path, err: stripPathError(err)}
		}
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// paths returns the paths of the kubeconfig files in order of decreasing priority.
func (o *options) paths() (paths []string) {
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

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("the file is larger than the limit of 8 MiB")
	}
	return text, err
}

// stripPathError removes the path and the operation from a file error, because the caller adds the path.
func stripPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// add adds the entries of a file. Entries of previous files take precedence.
func (m *mergedFiles) add(path string, text []byte) error {
	root, err := parse(text)
	if err != nil {
		return &Error{File: path, err: err}
	}
	m.files = append(m.files, path)
	place := &Error{File: path}
	top := read(root, "", place)
	if kind, version := top.string("kind"), top.string("apiVersion"); kind != "" && kind != "Config" || version != "" && version != "v1" {
		top.fail("kind", root, "the value must be a Config of version v1")
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
				element.fail("name", node, "duplicate "+kind+" "+strconv.Quote(name))
			}
			here[name] = true
			if m.entries[kind][name] == nil {
				m.entries[kind][name] = &entry{kind: kind, name: name, file: path, node: element.members[kind]}
			}
		}
	}
	return top.err()
}

// parse returns the first YAML or JSON document in text, or nil if text is empty.
func parse(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		switch {
		case strings.Contains(message, "unknown anchor"): // the error omits the name of the anchor, because it may be a password
			message = "an alias has no anchor: put a string that starts with * in quotes"
		case strings.Contains(message, "cannot start any token"):
			message += ": indent with spaces, and put a string that starts with a tab, @, % or ` in quotes"
		}
		return nil, errors.New(message)
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

// find returns the entry with this kind and name, or an unknownError.
func (m *mergedFiles) find(kind, name string) (*entry, error) {
	if found := m.entries[kind][name]; found != nil {
		return found, nil
	}
	return nil, &unknownError{kind, name, m.names(kind)}
}
