//go:build !js

package kubeconfig

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"unicode"
)

// execError reports that a credential plugin did not return a credential. An [Error] wraps it and names the user.
type execError struct {
	command string // command of the plugin without its arguments
	stderr  string // the last lines of the plugin's stderr, at most three, with secrets redacted
	install string // installHint of the kubeconfig
	err     error  // an *[exec.ExitError], an *[exec.Error], the cause of the context, or an error in the output
}

func (e *execError) Error() string {
	cause := e.err
	if missing, ok := errors.AsType[*exec.Error](e.err); ok {
		cause = missing.Err // the inner error, because the message already contains the command
	}
	text := "the credential plugin " + e.command + ": " + cause.Error()
	for _, more := range []string{e.stderr, e.install} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

func (e *execError) Unwrap() error { return e.err }

func (p *plugin) failed(err error, stderr string) *execError {
	e := &execError{command: p.command, stderr: stderr, err: err}
	if isMissing(err) {
		e.install = p.hint
	}
	return e
}

// isMissing reports whether err means that the plugin was not found.
func isMissing(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}

// hint returns advice for the user: the installHint of a missing plugin, or a suggestion to log in.
func (e *execError) hint() string {
	if isMissing(e.err) {
		return e.install
	}
	return "log in again, or run " + e.command + " manually"
}

// limitedBuffer is a writer that stores at most maxOutput bytes.
type limitedBuffer struct {
	text []byte
	full bool
}

var errFull = errors.New("the output is larger than 1 MiB")

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if len(l.text)+len(p) > maxOutput {
		l.full = true
		return 0, errFull
	}
	l.text = append(l.text, p...)
	return len(p), nil
}

// tailBuffer is a writer that forwards its input and stores at most the last 8 KiB.
type tailBuffer struct {
	writer io.Writer // receives all input; may be nil
	text   []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	if t.writer != nil {
		_, _ = t.writer.Write(p) // ignores the error, so that a broken writer does not stop the plugin
	}
	t.text = append(t.text, p...)
	if len(t.text) > 8<<10 {
		t.text = t.text[len(t.text)-4<<10:]
		_, rest, _ := bytes.Cut(t.text, []byte("\n")) // drops the first line, because a truncated secret in it could not be redacted
		t.text = bytes.Clone(rest)
	}
	return len(p), nil
}

// lines returns the last non-empty lines, at most three, with secrets redacted.
func (t *tailBuffer) lines(secrets []string) string {
	var lines []string
	for line := range strings.Lines(string(t.text)) {
		line = strings.TrimSpace(printable(redact(line, secrets)))
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

const secretWord = `(?:token|passw|secret|bearer|authorization|credential|client-?key|api-?key|access-?key)`

var (
	// sensitive matches the name of a variable or flag whose value is a secret, for example MY_TOKEN.
	sensitive = regexp.MustCompile(`(?i)^[^=]*` + strings.ReplaceAll(secretWord, "-?", "[-_]?"))
	// named matches a secret word and its value, for example "token: abc" or "Bearer abc".
	named = regexp.MustCompile(`(?i)(` + secretWord + `\w*["']?\s*[:=]\s*["']?(?:bearer\s+)?|bearer\s+)[^\s"',;]+`)
	// random matches long random words, which may be tokens or base64 data.
	random = regexp.MustCompile(`[A-Za-z0-9_+/=-]{24,}`)
)

// secrets returns the values of the environment variables and arguments that may contain secrets.
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

// redact replaces secrets, and words that look like secrets, with "…".
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
		return run // keeps the word, because it is probably a path
	})
}

// printable replaces white space in text with spaces, removes other control characters, and truncates the result to 500
// characters.
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
