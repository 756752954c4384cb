//go:build !js

package kubeconfig

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// maxOutput is the maximum size of a plugin's output in bytes.
const maxOutput = 1 << 20

// plugin runs a credential plugin and caches its latest credential.
type plugin struct {
	location           Error // location of the exec field, for errors
	command            string
	args, env, secrets []string // secrets contains strings to redact from stderr
	version            string
	mode, hint         string
	cluster            *clusterInfo // nil if the kubeconfig does not set provideClusterInfo
	stderr             io.Writer

	lock           chan struct{} // held while a goroutine reads the cached credential or runs the plugin
	lastCredential *lwhttp.Credential
	expires        time.Time // time when the credential expires; zero if it does not expire
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
	given, until, err := p.run(ctx)
	if err == nil && rejected != nil && !until.IsZero() && !time.Now().Before(until) {
		// If the server has not rejected a credential, an expired credential is accepted, because the local clock may
		// be wrong.
		err = p.failed(fmt.Errorf("%w, and the new credential expired at %s", lw.ErrUnauthorized, until.UTC().Format(time.RFC3339)), "")
	}
	if err != nil {
		location := p.location
		location.set(err)
		return nil, &location
	}
	p.lastCredential, p.expires = given, until
	return given, nil
}

// run executes the plugin and returns its credential and the expiration time. It kills the plugin when ctx is done.
func (p *plugin) run(ctx context.Context) (*lwhttp.Credential, time.Time, error) {
	ask := execCredential{Version: p.version, Kind: "ExecCredential"}
	ask.Spec.Cluster, ask.Spec.Interactive = p.cluster, p.mode != "Never" && isTerminal(os.Stdin)
	if p.mode == "Always" && !ask.Spec.Interactive {
		return nil, time.Time{}, p.failed(errors.New("user input is required, but standard input is not a terminal"), "")
	}
	info, err := json.Marshal(ask)
	if err != nil {
		return nil, time.Time{}, err
	}
	cmd := exec.CommandContext(ctx, p.command, p.args...)
	cmd.Env = append(append(os.Environ(), p.env...), "KUBERNETES_EXEC_INFO="+string(info))
	cmd.WaitDelay = time.Second // limits the wait for child processes that keep the output open
	said, printed := &tailBuffer{writer: p.stderr}, &limitedBuffer{}
	cmd.Stdout, cmd.Stderr = printed, said
	if ask.Spec.Interactive {
		cmd.Stdin = os.Stdin
	}
	var given *lwhttp.Credential
	var until time.Time
	switch err = cmd.Run(); {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case printed.full: // the plugin was killed, because its output exceeded the limit
		err = errFull
	case err == nil:
		given, until, err = p.parse(printed.text)
	case errors.Is(err, exec.ErrWaitDelay): // the plugin succeeded and left a child process behind, for example an agent
		if given, until, err = p.parse(printed.text); err != nil {
			err = fmt.Errorf("%w, and a child process of the plugin still keeps it open", err)
		}
	}
	if err != nil {
		return nil, until, p.failed(err, said.lines(p.secrets))
	}
	return given, until, nil
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
func (p *plugin) parse(text []byte) (*lwhttp.Credential, time.Time, error) {
	var answer execCredential
	var until time.Time
	switch err := json.Unmarshal(text, &answer); {
	case err != nil || answer.Kind != "ExecCredential":
		return nil, until, errors.New("the output is not an ExecCredential in JSON")
	case answer.Version != p.version:
		return nil, until, errors.New("the output must have the apiVersion " + p.version + " from the kubeconfig")
	case answer.Status == nil || answer.Status.Token == "" && answer.Status.Cert == "" && answer.Status.Key == "":
		return nil, until, errors.New("the output contains neither a token nor a client certificate")
	}
	given := &lwhttp.Credential{Token: answer.Status.Token, CertData: []byte(answer.Status.Cert), KeyData: []byte(answer.Status.Key)}
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
