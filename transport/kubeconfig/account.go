//go:build !js

package kubeconfig

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// account is where Kubernetes puts a Pod's service account.
const account = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster returns where a Pod connects to with its service account; nil if this is no Pod that has one.
func (o *Options) inCluster(c *Config) (*Config, error) {
	folder := cmp.Or(o.account, account)
	host, port, token := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"), filepath.Join(folder, "token")
	if info, err := os.Stat(token); host == "" || port == "" || err != nil || info.IsDir() {
		return nil, nil
	}
	l := &loader{Options: o, config: c}
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
	if c.HTTP.Token = o.Token; o.Token == "" {
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

// ownNamespace is the Pod's.
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
