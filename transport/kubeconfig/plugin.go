//go:build !js

package kubeconfig

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d2a410a/listwatch/internal/secretfile"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// group is the API group of credential plugins.
const group = "client.authentication.k8s.io/"

// maxOutput is the maximum size of a plugin's output in bytes.
const maxOutput = 1 << 20

// plugin runs a credential plugin and caches its latest credential.
type plugin struct {
	at                 Error // location of the exec field, for errors
	command            string
	args, env, secrets []string // secrets contains strings to redact from stderr
	version            string
	mode, install      string       // interactiveMode and installHint of the kubeconfig
	cluster            *clusterInfo // nil if the kubeconfig does not set provideClusterInfo
	stderr             io.Writer

	lock           chan struct{} // held while a goroutine reads the cached credential or runs the plugin
	lastCredential *lwhttp.Credential
	expires        time.Time // time when the credential expires; zero if it does not expire
}

// exec configures a CredentialFunc that runs the user's credential plugin.
func (l *loader) exec(fields *fields) {
	p := &plugin{
		at: fields.at, command: fields.string("command"), args: fields.strings("args"), version: fields.string("apiVersion"),
		mode: fields.string("interactiveMode"), install: printable(fields.string("installHint")), stderr: l.Stderr, lock: make(chan struct{}, 1),
	}
	p.at.field = "exec"
	for _, node := range fields.list("env") {
		variable := fields.element("env", node)
		name, value := variable.string("name"), variable.string("value")
		if name == "" {
			variable.failAt("name", node, errors.New("the value is missing"))
		}
		p.env = append(p.env, name+"="+value)
	}
	p.secrets = secrets(p.env, p.args)
	p.validate(fields)
	if fields.boolean("provideClusterInfo") {
		p.cluster = l.clusterInfo()
	}
	l.config.HTTP.CredentialFunc = p.credential
}

// validate reports mistakes in the kubeconfig that would make every run of the plugin fail.
func (p *plugin) validate(fields *fields) {
	switch p.version {
	case group + "v1", group + "v1beta1":
	case group + "v1alpha1":
		fields.fail("apiVersion", "Kubernetes no longer supports v1alpha1: update the plugin and regenerate the kubeconfig")
	default:
		fields.fail("apiVersion", "the value must be "+group+"v1 or "+group+"v1beta1")
	}
	if p.mode == "" && p.version == group+"v1beta1" {
		p.mode = "IfAvailable"
	}
	if !slices.Contains([]string{"Never", "IfAvailable", "Always"}, p.mode) {
		fields.fail("interactiveMode", "the value must be Never, IfAvailable or Always")
	}
	if p.command == "" {
		fields.fail("command", "the value is missing")
		return
	}
	if strings.ContainsRune(p.command, filepath.Separator) {
		p.command = fields.path("command")
	}
	if _, err := exec.LookPath(p.command); err != nil {
		failed := p.failed(err, "")
		failed.field, failed.line = "exec.command", fields.members["command"].Line
		fields.loader.fail(*failed)
	}
}

// clusterInfo describes the cluster. A plugin receives it if the kubeconfig sets provideClusterInfo.
type clusterInfo struct {
	Server             string          `json:"server"`
	ServerName         string          `json:"tls-server-name,omitempty"`
	Insecure           bool            `json:"insecure-skip-tls-verify,omitempty"`
	CA                 []byte          `json:"certificate-authority-data,omitempty"`
	Proxy              string          `json:"proxy-url,omitempty"`
	DisableCompression bool            `json:"disable-compression,omitempty"`
	Config             json.RawMessage `json:"config,omitempty"`
}

func (l *loader) clusterInfo() *clusterInfo {
	http := l.config.HTTP
	info := &clusterInfo{l.config.Server, http.ServerName, http.InsecureSkipVerify, http.CAData, http.Proxy, http.DisableCompression, nil}
	if http.CAFile != "" {
		info.CA, _ = secretfile.Read("certificate-authority file", http.CAFile) // cannot fail, because the file was read before
	}
	for _, node := range l.clusterFields.list("extensions") {
		extension := l.clusterFields.element("extensions", node)
		value := extension.members["extension"]
		if extension.string("name") != group+"exec" || value == nil {
			continue
		}
		var config any
		err := value.Decode(&config) // the YAML decoder limits the expansion of aliases
		if err == nil {
			info.Config, err = json.Marshal(config)
		}
		if err != nil {
			extension.fail("extension", "the value cannot be written as JSON")
		}
	}
	return info
}

// execCredential is the JSON input and output of a plugin.
type execCredential struct {
	Version string `json:"apiVersion"`
	Kind    string `json:"kind"`
	Spec    struct {
		Cluster     *clusterInfo `json:"cluster,omitempty"`
		Interactive bool         `json:"interactive"`
	} `json:"spec"`
	Status *struct {
		Token string    `json:"token"`
		Cert  string    `json:"clientCertificateData"`
		Key   string    `json:"clientKeyData"`
		Until time.Time `json:"expirationTimestamp"`
	} `json:"status,omitempty"`
}

// credential implements lwhttp.Options.CredentialFunc. It runs one plugin process at a time and reuses the credential
// until it expires or the server rejects it.
func (p *plugin) credential(ctx context.Context, rejected *lwhttp.Credential) (*lwhttp.Credential, error) {
	select {
	case p.lock <- struct{}{}:
		defer func() { <-p.lock }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p.lastCredential == rejected {
		p.lastCredential = nil
	}
	if p.lastCredential != nil && (p.expires.IsZero() || time.Now().Before(p.expires)) {
		return p.lastCredential, nil
	}
	given, until, stderr, err := p.run(ctx)
	if err == nil && rejected != nil && !until.IsZero() && !time.Now().Before(until) {
		// If the server has not rejected a credential, an expired credential is accepted, because the local clock may
		// be wrong.
		stderr, err = "", fmt.Errorf("%w, and the new credential expired at %s", lw.ErrUnauthorized, until.UTC().Format(time.RFC3339))
	}
	if err != nil {
		return nil, p.failed(err, stderr)
	}
	p.lastCredential, p.expires = given, until
	return given, nil
}

// run executes the plugin and returns its credential, the expiration time, and the end of its stderr. It kills the
// plugin when ctx is done.
func (p *plugin) run(ctx context.Context) (given *lwhttp.Credential, until time.Time, stderr string, err error) {
	ask := execCredential{Version: p.version, Kind: "ExecCredential"}
	ask.Spec.Cluster, ask.Spec.Interactive = p.cluster, p.mode != "Never" && isTerminal(os.Stdin)
	if p.mode == "Always" && !ask.Spec.Interactive {
		return nil, until, "", errors.New("user input is required, but standard input is not a terminal")
	}
	info, err := json.Marshal(ask)
	if err != nil {
		return nil, until, "", err
	}
	cmd := exec.CommandContext(ctx, p.command, p.args...)
	cmd.Env = append(append(os.Environ(), p.env...), "KUBERNETES_EXEC_INFO="+string(info))
	cmd.WaitDelay = time.Second // limits the wait for child processes that keep the output open
	said, printed := &tailBuffer{writer: p.stderr}, &limitedBuffer{}
	cmd.Stdout, cmd.Stderr = printed, said
	if ask.Spec.Interactive {
		cmd.Stdin = os.Stdin
	}
	switch err = cmd.Run(); {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case len(printed.text) > maxOutput: // the plugin was killed, because its output exceeded the limit
		err = errFull
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		left := err != nil // the plugin succeeded and left a child process behind, for example an agent
		if given, until, err = p.parse(printed.text); err != nil && left {
			err = fmt.Errorf("%w, and a child process of the plugin still keeps it open", err)
		}
	}
	return given, until, said.lines(p.secrets), err
}

// isTerminal reports whether file is a character device other than the null device. Such a device is probably a
// terminal.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// parse decodes the output of a plugin and returns the credential and its expiration time. Errors do not quote the
// output.
func (p *plugin) parse(text []byte) (given *lwhttp.Credential, until time.Time, err error) {
	var answer execCredential
	switch err := json.Unmarshal(text, &answer); {
	case err != nil || answer.Kind != "ExecCredential":
		return nil, until, errors.New("the output is not an ExecCredential in JSON")
	case answer.Version != p.version:
		return nil, until, errors.New("the output must have the apiVersion " + p.version + " from the kubeconfig")
	case answer.Status == nil || answer.Status.Token == "" && answer.Status.Cert == "" && answer.Status.Key == "":
		return nil, until, errors.New("the output contains neither a token nor a client certificate")
	}
	given = &lwhttp.Credential{Token: answer.Status.Token, CertData: []byte(answer.Status.Cert), KeyData: []byte(answer.Status.Key)}
	until = answer.Status.Until
	if len(given.CertData) > 0 || len(given.KeyData) > 0 {
		pair, err := tls.X509KeyPair(given.CertData, given.KeyData)
		if err != nil {
			return nil, until, errors.New("the output contains an invalid client certificate or key")
		}
		if end := pair.Leaf.NotAfter; until.IsZero() || end.Before(until) {
			until = end
		}
	}
	return given, until, nil
}

// failed returns an Error for a plugin that did not return a credential. stderr contains the last lines of its stderr,
// or "". The hint is the installHint of a missing plugin, or a suggestion to log in.
func (p *plugin) failed(err error, stderr string) *Error {
	failed, detail := p.at, stderr
	failed.Hint = "log in again, or run " + p.command + " manually"
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		failed.Hint, detail = p.install, p.install
	}
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		err = missing.Err // the inner error, because the message already contains the command
	}
	failed.err = fmt.Errorf("the credential plugin %s: %w", p.command, err)
	if detail != "" {
		failed.err = fmt.Errorf("%w: %s", failed.err, detail)
	}
	return &failed
}

// limitedBuffer is a buffer whose writes fail when it contains more than maxOutput bytes.
type limitedBuffer struct{ text []byte }

var errFull = errors.New("the output is larger than 1 MiB")

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if len(l.text) > maxOutput {
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
	words := slices.Concat(env, args)
	for i, word := range words {
		name, value, joined := strings.Cut(word, "=")
		if !sensitive.MatchString(name) || i >= len(env) && !strings.HasPrefix(name, "-") {
			continue
		}
		if !joined && i+1 < len(words) {
			value = words[i+1]
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
		switch letters++; {
		case letters > 500 || r == unicode.ReplacementChar || !unicode.IsSpace(r) && !unicode.IsPrint(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
}
