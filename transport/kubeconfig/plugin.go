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

// maxOutput is how much a plugin may print, in bytes.
const maxOutput = 1 << 20

// plugin is a credential plugin, and what it gave last.
type plugin struct {
	location           Error // of the user's exec
	command            string
	args, env, secrets []string // secrets are what its stderr must not show
	version            string
	mode, hint         string
	cluster            *clusterInfo // nil if it does not ask
	stderr             io.Writer

	lock           chan struct{} // full while the credential is read or the plugin runs
	lastCredential *lwhttp.Credential
	expires        time.Time // zero if it does not expire
}

// execCredential is what goes to a plugin and comes back.
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

// credential is a CredentialFunc. The plugin runs once at a time; what it gives is kept until it expires or is refused.
func (p *plugin) credential(ctx context.Context, refused *lwhttp.Credential) (*lwhttp.Credential, error) {
	select {
	case p.lock <- struct{}{}:
		defer func() { <-p.lock }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p.lastCredential == refused {
		p.lastCredential = nil
	}
	if p.lastCredential != nil && (p.expires.IsZero() || time.Now().Before(p.expires)) {
		return p.lastCredential, nil
	}
	given, until, err := p.run(ctx)
	if err == nil && refused != nil && !until.IsZero() && !time.Now().Before(until) {
		// Before it was refused, the server's clock might have known better.
		err = p.failed(fmt.Errorf("%w, and in its place it gave one that expired at %s", lw.ErrUnauthorized, until.UTC().Format(time.RFC3339)), "")
	}
	if err != nil {
		place := p.location
		place.Err = err
		return nil, &place
	}
	p.lastCredential, p.expires = given, until
	return given, nil
}

// run runs the plugin within ctx.
func (p *plugin) run(ctx context.Context) (*lwhttp.Credential, time.Time, error) {
	ask := execCredential{Version: p.version, Kind: "ExecCredential"}
	ask.Spec.Cluster, ask.Spec.Interactive = p.cluster, p.mode != "Never" && isTerminal(os.Stdin)
	if p.mode == "Always" && !ask.Spec.Interactive {
		return nil, time.Time{}, p.failed(errors.New("it asks a human, and the standard input is no terminal"), "")
	}
	info, err := json.Marshal(ask)
	if err != nil {
		return nil, time.Time{}, err
	}
	cmd := exec.CommandContext(ctx, p.command, p.args...)
	cmd.Env = append(append(os.Environ(), p.env...), "KUBERNETES_EXEC_INFO="+string(info))
	cmd.WaitDelay = time.Second // its children may live on, and hold what it has printed to
	said, printed := &tailBuffer{writer: p.stderr}, &limitedBuffer{}
	cmd.Stdout, cmd.Stderr = printed, said
	if ask.Spec.Interactive {
		cmd.Stdin = os.Stdin
	}
	switch err = cmd.Run(); {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case printed.full: // and it was killed for it
		err = errFull
	}
	var given *lwhttp.Credential
	var until time.Time
	if err == nil {
		given, until, err = p.parse(printed.text)
	}
	if err != nil {
		return nil, until, p.failed(err, said.lines(p.secrets))
	}
	return given, until, nil
}

// isTerminal is a guess that needs no system call of its own: a terminal is a character device, and not the empty one.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// parse reads what a plugin has printed. Errors show nothing of it.
func (p *plugin) parse(text []byte) (*lwhttp.Credential, time.Time, error) {
	var answer execCredential
	var until time.Time
	switch err := json.Unmarshal(text, &answer); {
	case err != nil || answer.Kind != "ExecCredential":
		return nil, until, errors.New("what it printed is no ExecCredential in JSON")
	case answer.Version != p.version:
		return nil, until, errors.New("what it printed is not of the version " + p.version + ", as the kubeconfig says")
	case answer.Status == nil || answer.Status.Token == "" && answer.Status.Cert == "" && answer.Status.Key == "":
		return nil, until, errors.New("it gave neither a token nor a client certificate")
	}
	given := &lwhttp.Credential{Token: answer.Status.Token, CertData: []byte(answer.Status.Cert), KeyData: []byte(answer.Status.Key)}
	until = answer.Status.Until
	if len(given.CertData) > 0 || len(given.KeyData) > 0 {
		pair, err := tls.X509KeyPair(given.CertData, given.KeyData)
		if err != nil {
			return nil, until, errors.New("the client certificate that it gave, or its key, is broken")
		}
		if end := pair.Leaf.NotAfter; until.IsZero() || end.Before(until) {
			until = end
		}
	}
	return given, until, nil
}
