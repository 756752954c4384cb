//go:build !js

package kubeconfig

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fields reads the members of a YAML mapping in the same way as kubectl. It does not convert types, treats null as a
// missing member and ignores unknown members. location keeps the first error. Errors never quote values.
type fields struct {
	members  map[string]*yaml.Node
	prefix   string // prefix of field names in errors, for example "exec."
	location *Error // location.err is nil until the first error
}

// read returns the fields of a mapping node. location receives the first error.
func read(node *yaml.Node, prefix string, location *Error) *fields {
	f := &fields{members: map[string]*yaml.Node{}, prefix: prefix, location: location}
	node = resolve(node)
	if node == nil {
		return f
	}
	if node.Kind != yaml.MappingNode {
		f.fail("", node, "the value must be a mapping")
		return f
	}
	f.add(node, 0)
	return f
}

// add adds the members of a mapping. The mapping's own members override the members that it merges with "<<".
func (f *fields) add(node *yaml.Node, depth int) {
	own := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolve(node.Content[i]), resolve(node.Content[i+1])
		switch {
		case key == nil || key.Kind != yaml.ScalarNode:
			f.fail("", node.Content[i], "a key must be a string")
		case key.Tag == "!!merge" && value != nil && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		case key.Tag == "!!merge":
			merged = append(merged, value)
		case own[key.Value]:
			f.fail(key.Value, key, "duplicate key")
		default:
			own[key.Value] = true
			if _, ok := f.members[key.Value]; !ok && value != nil {
				f.members[key.Value] = value
			}
		}
	}
	for _, node := range merged {
		node = resolve(node)
		if node == nil || node.Kind != yaml.MappingNode || depth > 8 {
			f.fail("<<", node, "the value must be a mapping, and must not be deeply nested")
			return
		}
		f.add(node, depth+1)
	}
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

func (f *fields) fail(name string, node *yaml.Node, message string) {
	f.failField(name, node, errors.New(message))
}

func (f *fields) failField(name string, node *yaml.Node, err error) {
	if f.location.err != nil {
		return
	}
	f.location.field = strings.TrimSuffix(f.prefix+name, ".")
	f.location.set(err)
	if node != nil {
		f.location.line = node.Line
	}
}

func (f *fields) has(name string) bool { return f.members[name] != nil }

// string returns the value of a string field, or "" if the field is missing.
func (f *fields) string(name string) string {
	node := f.members[name]
	if node == nil {
		return ""
	}
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" && node.ShortTag() != "!!timestamp" {
		message := "the value must be a string"
		if node.Kind == yaml.ScalarNode {
			message += ": put it in quotes"
		}
		f.fail(name, node, message)
		return ""
	}
	return node.Value
}

func (f *fields) boolean(name string) bool {
	node := f.members[name]
	if node == nil {
		return false
	}
	var value bool
	const text = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if node.Kind != yaml.ScalarNode || node.Style&text != 0 || node.Decode(&value) != nil { // the yaml package also decodes yes and no as booleans
		f.fail(name, node, "the value must be true or false")
	}
	return value
}

// data returns the decoded value of a base64 field.
func (f *fields) data(name string) []byte {
	text := f.string(name)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		f.fail(name, f.members[name], "the value is not valid base64") // replaces the error of package base64, which contains only a byte offset
	}
	return data
}

// list returns the elements of a sequence field.
func (f *fields) list(name string) []*yaml.Node {
	node := f.members[name]
	if node != nil && node.Kind != yaml.SequenceNode {
		f.fail(name, node, "the value must be a list")
		return nil
	}
	if node == nil {
		return nil
	}
	return node.Content
}

func (f *fields) strings(name string) (texts []string) {
	for i, node := range f.list(name) {
		element := name + "[" + strconv.Itoa(i) + "]"
		of := &fields{members: map[string]*yaml.Node{element: resolve(node)}, prefix: f.prefix, location: f.location}
		texts = append(texts, of.string(element))
	}
	return texts
}

// group returns the fields of a nested mapping. They are empty if the mapping is missing.
func (f *fields) group(name string) *fields {
	return read(f.members[name], f.prefix+name+".", f.location)
}

// err returns the first error, or nil. If it is not nil, the results of the other methods must not be used.
func (f *fields) err() error {
	if f.location.err == nil {
		return nil
	}
	return f.location
}
