package output

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// writeText writes what a template made, which ends with a newline if it is not empty: an event is a line.
func writeText(out *bufio.Writer, text []byte) {
	out.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		out.WriteByte('\n')
	}
}

func newJSONPath(text string, opts *Options) (Format, error) {
	parsed, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	return formatFunc(func(out *bufio.Writer, e *Event) error {
		writeText(out, parsed.Append(nil, data(e, opts)))
		return nil
	}), nil
}

func newTemplate(text string, opts *Options) (Format, error) {
	parsed, err := template.New("output").Funcs(template.FuncMap{"base64decode": base64decode}).Parse(text)
	if err != nil {
		return nil, err
	}
	return formatFunc(func(out *bufio.Writer, e *Event) error {
		var text bytes.Buffer
		if err := parsed.Execute(&text, goValue(data(e, opts))); err != nil {
			return withoutValue(err)
		}
		writeText(out, text.Bytes())
		return nil
	}), nil
}

// withoutValue cuts off what one error of templates has of the object, which may be a Secret; the others show none of it.
func withoutValue(err error) error {
	if text, _, found := strings.Cut(err.Error(), " over "); found {
		return errors.New(text + " over it")
	}
	return err
}

// base64decode is the function that kubectl gives to templates, for Secrets.
func base64decode(text string) (string, error) {
	decoded, err := base64.StdEncoding.DecodeString(text)
	return string(decoded), err
}

// goValue makes of JSON what templates know. An integer is an int64, which they can compare; what is none keeps its digits.
func goValue(v lw.Value) any {
	switch v[0] {
	case '{':
		members := map[string]any{}
		for name, member := range v.Members() {
			members[name] = goValue(member)
		}
		return members
	case '[':
		elements := []any{}
		for element := range v.Elements() {
			elements = append(elements, goValue(element))
		}
		return elements
	case '"':
		return v.String()
	case 't', 'f':
		return v.Bool()
	case 'n':
		return nil
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n
	}
	return json.Number(v)
}
