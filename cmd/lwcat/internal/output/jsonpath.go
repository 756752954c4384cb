package output

import (
	"bufio"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
)

// newJSONPath returns the format that prints one line per event: the result of a JSONPath template.
// It prints nothing if the result is empty.
func newJSONPath(text string, opts *Options) (Format, error) {
	parsed, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	return formatFunc(func(out *bufio.Writer, e *Event) {
		line := parsed.Append(nil, data(e, opts))
		out.Write(line)
		if len(line) > 0 && line[len(line)-1] != '\n' {
			out.WriteByte('\n')
		}
	}), nil
}
