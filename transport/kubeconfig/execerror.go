//go:build !js

package kubeconfig

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"unicode"
)

// ExecError says that a credential plugin gave no credential. It is within an [Error], which says whose plugin it is.
type ExecError struct {
	Command string // without its arguments
	Stderr  string // the last lines that it wrote there, at most three; what looks like a secret is left out
	Hint    string // how to install it, if it is missing and the kubeconfig says
	Err     error  // an *[exec.ExitError], *[exec.Error], the context's cause, or what was wrong with its output
}

// Error implements error.
func (e *ExecError) Error() string {
	what := e.Err
	if missing, ok := errors.AsType[*exec.Error](e.Err); ok {
		what = missing.Err // the command is named already
	}
	text := "the credential plugin " + e.Command + ": " + what.Error()
	for _, more := range []string{e.Stderr, e.Hint} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

func (e *ExecError) Unwrap() error { return e.Err }

func (p *plugin) failed(err error, stderr string) *ExecError {
	e := &ExecError{Command: p.command, Stderr: stderr, Err: err}
	if errors.Is(err, exec.ErrNotFound) {
		e.Hint = p.hint
	}
	return e
}

// limitedBuffer keeps up to a maximum number of bytes.
type limitedBuffer struct {
	text []byte
	full bool
}

var errFull = errors.New("it printed more than 1 MiB")

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if len(l.text)+len(p) > maxOutput {
		l.full = true
		return 0, errFull
	}
	l.text = append(l.text, p...)
	return len(p), nil
}

// tailBuffer keeps the end of the bytes and forwards all of them.
type tailBuffer struct {
	writer io.Writer // or nil
	text   []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	if t.writer != nil {
		_, _ = t.writer.Write(p) // where the human does not see it, the plugin goes on
	}
	if t.text = append(t.text, p...); len(t.text) > 8<<10 {
		t.text = t.text[len(t.text)-4<<10:]
		_, rest, _ := bytes.Cut(t.text, []byte("\n")) // half a secret is not known for one
		t.text = bytes.Clone(rest)
	}
	return len(p), nil
}

// lines returns the last three that are not empty, joined, without what is secret or looks like it.
func (t *tailBuffer) lines(secrets []string) string {
	var lines []string
	for line := range strings.Lines(string(t.text)) {
		if line = strings.TrimSpace(printable(redact(line, secrets))); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

const secretWord = `(?:token|passw|secret|bearer|authorization|credential|client-?key|api-?key|access-?key)`

var (
	// sensitive is a variable or a flag whose value is secret.
	sensitive = regexp.MustCompile(`(?i)^[^=]*` + strings.ReplaceAll(secretWord, "-?", "[-_]?"))
	// named is what stands behind a word that says that it is secret.
	named = regexp.MustCompile(`(?i)(` + secretWord + `\w*["']?\s*[:=]\s*["']?(?:bearer\s+)?|bearer\s+)[^\s"',;]+`)
	// random is a long run of what tokens and base64 are made of.
	random = regexp.MustCompile(`[A-Za-z0-9_+/=-]{24,}`)
)

// secrets returns those values of variables and arguments whose names say that they are secret.
func secrets(env, args []string) (values []string) {
	for _, variable := range env {
		if name, value, _ := strings.Cut(variable, "="); sensitive.MatchString(name) {
			values = append(values, value)
		}
	}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "-") || !sensitive.MatchString(name) {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		values = append(values, value)
	}
	return values
}

// redact leaves out secrets, and what looks like one.
func redact(line string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 {
			line = strings.ReplaceAll(line, secret, "…")
		}
	}
	line = named.ReplaceAllString(line, "${1}…")
	return random.ReplaceAllStringFunc(line, func(run string) string {
		if strings.ContainsAny(run, "0123456789") {
			return "…"
		}
		return run // as a path of words
	})
}

// printable drops what would control a terminal, and what follows 500 letters.
func printable(text string) string {
	letters := 0
	return strings.Map(func(r rune) rune {
		if letters++; letters > 500 || r == unicode.ReplacementChar {
			return -1
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
