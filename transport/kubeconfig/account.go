//go:build !js

package kubeconfig

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
	"github.com/seed-6d2a410a/listwatch/internal/secretfile"
)

// account is the folder where a Pod's service account is mounted.
const account = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster fills c with the server and the credentials of the Pod's service account. It returns nil if the process
// does not run in a Pod. If it runs in a Pod but cannot read the account, inCluster returns an error.
func (o *options) inCluster(c *kubeflags.Config) (*kubeflags.Config, error) {
	folder := cmp.Or(o.Account, account)
	host, port, token := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"), filepath.Join(folder, "token")
	if info, err := os.Stat(token); host == "" || port == "" || errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil, nil
	}
	l := &loader{options: o, config: c}
	c.Server, c.HTTP.ServerName = "https://"+net.JoinHostPort(host, port), o.ServerName
	fields := read(nil, "", &Error{Entry: "service account"})
	l.authority(fields)
	if o.CAFile == "" && !o.Insecure {
		c.HTTP.CAFile = filepath.Join(folder, "ca.crt")
		if err := fileHoldsCertificates(c.HTTP.CAFile); err != nil {
			fields.failField("ca.crt", nil, err)
		}
	}
	l.impersonate(fields)
	c.HTTP.Token = o.Token
	if o.Token == "" {
		c.HTTP.TokenFile = token
		if _, err := secretfile.Read("token file", token); err != nil {
			fields.failField("token", nil, err)
		}
	}
	if o.Namespace == "" {
		var err error
		if c.Namespace, err = ownNamespace(folder); err != nil {
			fields.failField("namespace", nil, err)
		}
	}
	if err := fields.err(); err != nil {
		return nil, err
	}
	return c, l.validate()
}

// ownNamespace returns the namespace of the Pod in which the process runs.
func ownNamespace(folder string) (string, error) {
	if name := os.Getenv("POD_NAMESPACE"); name != "" {
		return name, nil
	}
	text, err := os.ReadFile(filepath.Join(folder, "namespace"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err // the namespace "default" would show the objects of another user
	}
	return cmp.Or(strings.TrimSpace(string(text)), "default"), nil
}
