//go:build !js

package kubeconfig

import (
	"bytes"
	"cmp"
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
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/internal/secretfile"
)

// group is the API group of credential plugins, including the slash that precedes the version.
const group = "client.authentication.k8s.io/"

// plugin runs a credential plugin and caches its latest credential.
type plugin struct {
	at            Error // location of the exec field, for errors
	command       string
	args, env     []string
	version       string
	mode, install string       // interactiveMode and installHint of the kubeconfig
	cluster       *clusterInfo // nil if the kubeconfig does not set provideClusterInfo
	stderr        io.Writer

	lock           chan struct{} // lock for the credential, held while the plugin runs; a channel, so that a wait can be canceled
	lastCredential *lwhttp.Credential
	expires        time.Time // when the credential expires; zero means never
}

// exec configures a CredentialFunc that runs the user's credential plugin.
func (l *loader) exec(fields *fields) {
	p := &plugin{
		at: fields.at, command: fields.string("command"), args: fields.strings("args"), version: fields.string("apiVersion"),
		mode: fields.string("interactiveMode"), install: printable(fields.string("installHint")), stderr: cmp.Or[io.Writer](l.Stderr, os.Stderr), lock: make(chan struct{}, 1),
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
	default:
		fields.fail("apiVersion", "the value must be "+group+"v1 or "+group+"v1beta1")
	}
	if p.mode == "" && p.version == group+"v1beta1" { // v1 has no default
		p.mode = "IfAvailable"
	}
	if !slices.Contains([]string{"Never", "IfAvailable", "Always"}, p.mode) {
		fields.fail("interactiveMode", "the value must be Never, IfAvailable or Always")
	}
	if p.command == "" {
		fields.fail("command", "the value is missing")
		return
	}
	if strings.ContainsRune(p.command, filepath.Separator) { // otherwise, exec searches PATH for the command
		p.command = fields.path("command")
	}
	if _, err := exec.LookPath(p.command); err != nil {
		failed := p.failed(err)
		node := fields.members["command"]
		failed.field, failed.line, failed.column = "exec.command", node.Line, node.Column
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
		// Cannot fail, because the file was read before.
		info.CA, _ = secretfile.Read("certificate-authority file", http.CAFile)
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

// credential implements lwhttp.Options.CredentialFunc. It runs one plugin process at a time, because a plugin may
// prompt the user. It reuses the credential until it expires or the server rejects it.
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
	given, until, err := p.run(ctx)
	if err == nil && rejected != nil && !until.IsZero() && !time.Now().Before(until) {
		// The server has rejected the previous credential, so an expired new one is an error. Without a rejection, credential
		// uses even a credential that seems to have expired, because the local clock may be wrong.
		err = fmt.Errorf("%w, and the new credential expired at %s", lw.ErrUnauthorized, until.UTC().Format(time.RFC3339))
	}
	if err != nil {
		return nil, p.failed(err)
	}
	p.lastCredential, p.expires = given, until
	return given, nil
}

// run executes the plugin and returns its credential and the expiration time. It kills the plugin when ctx is done.
func (p *plugin) run(ctx context.Context) (given *lwhttp.Credential, until time.Time, err error) {
	ask := execCredential{Version: p.version, Kind: "ExecCredential"}
	ask.Spec.Cluster, ask.Spec.Interactive = p.cluster, p.mode != "Never" && isTerminal(os.Stdin)
	if p.mode == "Always" && !ask.Spec.Interactive {
		return nil, until, errors.New("user input is required, but standard input is not a terminal")
	}
	info, err := json.Marshal(ask)
	if err != nil {
		return nil, until, err
	}
	cmd := exec.CommandContext(ctx, p.command, p.args...)
	cmd.Env = append(append(os.Environ(), p.env...), "KUBERNETES_EXEC_INFO="+string(info))
	cmd.WaitDelay = time.Second // limits the wait for child processes that keep the output open
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, p.stderr
	if ask.Spec.Interactive {
		cmd.Stdin = os.Stdin
	}
	switch err = cmd.Run(); {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		// This error is no failure, because a plugin may leave a child process behind, for example an agent.
		given, until, err = p.parse(printed.Bytes())
	}
	return given, until, err
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
// output, because it may contain secrets.
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

// failed returns an Error for a plugin that did not return a credential. Its Hint is the installHint if the plugin is
// missing, and otherwise a suggestion to log in.
func (p *plugin) failed(err error) *Error {
	failed, install := p.at, ""
	failed.Hint = "log in again, or run " + p.command + " manually"
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		failed.Hint = p.install
		if p.install != "" {
			install = ": " + p.install
		}
	}
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		err = missing.Err // only the inner error, because the outer message repeats the command
	}
	failed.err = fmt.Errorf("the credential plugin %s: %w%s", p.command, err, install)
	return &failed
}

// printable replaces white space and control characters in text with single spaces, because the installHint becomes
// part of an error message.
func printable(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}
