//go:build !js

package kubeconfig

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"go.yaml.in/yaml/v3"
)

// newLoader reads the kubeconfig files. opts may be nil.
func newLoader(opts *Options) *loader {
	if opts == nil {
		opts = &Options{}
	}
	l := &loader{Options: opts, config: &Config{HTTP: &lwhttp.Options{}}}
	l.entries = map[string]map[string]func() *fields{"context": {}, "cluster": {}, "user": {}}
	for _, path := range l.paths() {
		root, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) && l.Path == "" { // as in kubectl, only the file in Options.Path must exist
			continue
		}
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err // without the path, because Error.File already contains it
		}
		if err != nil {
			l.fail(Error{File: path, err: err})
		}
		l.add(path, root)
	}
	return l
}

// paths returns the paths of the kubeconfig files in order of decreasing priority.
func (o *Options) paths() []string {
	if o.Path != "" {
		return []string{o.Path}
	}
	if listed := os.Getenv("KUBECONFIG"); listed != "" {
		return slices.DeleteFunc(filepath.SplitList(listed), func(path string) bool { return path == "" })
	}
	if home, err := os.UserHomeDir(); err == nil {
		return []string{filepath.Join(home, ".kube", "config")}
	}
	return nil
}

// readFile returns the first YAML or JSON document in a file, or nil if the file is empty.
func readFile(path string) (*yaml.Node, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		switch {
		case strings.Contains(message, "unknown anchor"):
			// The error omits the name of the anchor, because it may be a password.
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

// add adds the entries of a file. Entries of previous files take precedence.
func (l *loader) add(path string, root *yaml.Node) {
	l.files = append(l.files, path)
	top := l.read(root, Error{File: path})
	if l.current == "" {
		l.current, l.currentFile = top.string("current-context"), path
	}
	for _, kind := range []string{"context", "cluster", "user"} {
		known, here := l.entries[kind], map[string]bool{}
		for i, node := range top.list(kind + "s") {
			element := l.read(node, Error{File: path, field: kind + "s[" + strconv.Itoa(i) + "]."})
			name := element.string("name")
			if here[name] {
				element.failAt("name", node, errors.New("duplicate "+kind+" "+strconv.Quote(name)))
			}
			here[name] = true
			if name != "" && known[name] == nil {
				at := Error{File: path, Entry: kind + " " + strconv.Quote(name)}
				known[name] = func() *fields { return l.read(element.members[kind], at) }
			}
		}
	}
}

func (l *loader) names(kind string) []string { return slices.Sorted(maps.Keys(l.entries[kind])) }

// fields reads the members of a YAML mapping in the same way as kubectl. It does not convert types, treats null as a
// missing member and ignores unknown members. It reports mistakes to the loader. The error text of a mistake never
// quotes a value, because the value may be a secret.
type fields struct {
	loader  *loader
	at      Error // location of the mapping; at.field is the prefix of field names, for example "exec."
	members map[string]*yaml.Node
}

// read returns the fields of a mapping node. They are empty if node is nil or null.
func (l *loader) read(node *yaml.Node, at Error) *fields {
	f := &fields{l, at, map[string]*yaml.Node{}}
	node = resolve(node)
	if node == nil {
		return f
	}
	var members map[string]yaml.Node
	err := node.Decode(&members) // the mapping's own members take precedence over those that it merges with "<<"
	mistake, ok := errors.AsType[*yaml.TypeError](err)
	switch {
	case node.Kind != yaml.MappingNode:
		f.failAt("", node, errors.New("the value must be a mapping"))
	case ok: // for example "line 3: mapping key "token" already defined at line 2"
		line, text, _ := strings.Cut(strings.TrimPrefix(mistake.Errors[0], "line "), ": ")
		n, _ := strconv.Atoi(line)
		f.failAt("", &yaml.Node{Line: n}, errors.New("invalid key: "+text))
	case err != nil:
		// The message omits the error, because it may contain the name of an anchor, which may be a password.
		f.failAt("", node, errors.New("the value contains an invalid merge"))
	}
	for name, member := range members {
		if value := resolve(&member); value != nil {
			f.members[name] = value
		}
	}
	return f
}

// values returns fields with the given strings, so that the loader can read the options and the service account with
// the same code as a kubeconfig. Empty strings count as missing.
func (l *loader) values(at Error, texts map[string]string) *fields {
	f := l.read(nil, at)
	for name, text := range texts {
		if text != "" {
			f.members[name] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
		}
	}
	return f
}

// resolve returns the node to which an alias points, and other nodes unchanged. It returns nil for null.
func resolve(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil || node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return nil
	}
	return node
}

// fail records a mistake in a field, which may be missing.
func (f *fields) fail(name, message string) { f.failAt(name, f.members[name], errors.New(message)) }

// failIf records an error about a field. It ignores nil, so that callers need not check for it.
func (f *fields) failIf(name string, err error) {
	if err != nil {
		f.failAt(name, f.members[name], err)
	}
}

// failAt records a mistake in a field. The error shows the position of node, which may be nil.
func (f *fields) failAt(name string, node *yaml.Node, err error) {
	at := f.at
	at.field, at.err = strings.TrimSuffix(at.field+name, "."), err
	if node != nil {
		at.line, at.column = node.Line, node.Column
	}
	f.loader.fail(at)
}

// string returns the value of a string field, or "" if the field is missing.
func (f *fields) string(name string) string { return f.text(name, f.members[name]) }

// text returns the string in a node, or "" if node is nil.
func (f *fields) text(name string, node *yaml.Node) string {
	switch {
	case node == nil:
		return ""
	case node.Kind != yaml.ScalarNode:
		f.failAt(name, node, errors.New("the value must be a string"))
		return ""
	case node.ShortTag() != "!!str" && node.ShortTag() != "!!timestamp": // kubectl reads an unquoted date as a string
		f.failAt(name, node, errors.New("the value must be a string: put it in quotes"))
		return ""
	}
	return node.Value
}

func (f *fields) boolean(name string) (value bool) {
	const text = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	node := f.members[name]
	// As in kubectl, an unquoted yes or no is a boolean. The yaml package accepts even quoted ones, which kubectl rejects.
	if node != nil && (node.Kind != yaml.ScalarNode || node.Style&text != 0 || node.Decode(&value) != nil) {
		f.fail(name, "the value must be true or false")
	}
	return value
}

// data returns the decoded value of a base64 field.
func (f *fields) data(name string) []byte {
	data, err := base64.StdEncoding.DecodeString(f.string(name))
	if err != nil {
		f.fail(name, "the value is not valid base64") // the error of package base64 would contain only a byte offset
	}
	return data
}

// path returns the file path in a field, or "" if the field is missing. A relative path is relative to the folder of
// the kubeconfig.
func (f *fields) path(name string) string {
	path := f.string(name)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	folder, err := filepath.Abs(filepath.Dir(f.at.File))
	f.failIf(name, err)
	return filepath.Join(folder, path)
}

// list returns the elements of a sequence field.
func (f *fields) list(name string) []*yaml.Node {
	node := f.members[name]
	if node != nil && node.Kind == yaml.SequenceNode {
		return node.Content
	}
	if node != nil {
		f.fail(name, "the value must be a list")
	}
	return nil
}

func (f *fields) strings(name string) (texts []string) {
	for i, node := range f.list(name) {
		texts = append(texts, f.text(name+"["+strconv.Itoa(i)+"]", resolve(node)))
	}
	return texts
}

// group returns the fields of a nested mapping. They are empty if the mapping is missing.
func (f *fields) group(name string) *fields { return f.element(name, f.members[name]) }

// element returns the fields of the mapping in node. node is the value of the field `name`, or an element of that
// field's list.
func (f *fields) element(name string, node *yaml.Node) *fields {
	at := f.at
	at.field += name + "."
	return f.loader.read(node, at)
}
