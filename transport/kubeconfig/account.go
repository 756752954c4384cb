//go:build !js

package kubeconfig

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/kubeflags"
)

// account is the folder where a Pod's service account is mounted.
const account = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster fills c with the server and the credentials of the Pod's service account. It returns nil if the process
// does not run in a Pod.
func (o *options) inCluster(c *kubeflags.Config) (*kubeflags.Config, error) {
	folder := cmp.Or(o.Account, account)
	host, port, token := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"), filepath.Join(folder, "token")
	if info, err := os.Stat(token); host == "" || port == "" || err != nil || info.IsDir() {
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
	}
	if o.Namespace == "" {
		c.Namespace = ownNamespace(folder)
	}
	if err := fields.err(); err != nil {
		return nil, err
	}
	return c, l.validate()
}

// ownNamespace returns the namespace of the Pod in which the process runs.
func ownNamespace(folder string) string {
	if name := os.Getenv("POD_NAMESPACE"); name != "" {
		return name
	}
	text, _ := os.ReadFile(filepath.Join(folder, "namespace"))
	if name := strings.TrimSpace(string(text)); name != "" {
		return name
	}
	return "default"
}
