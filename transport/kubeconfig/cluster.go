//go:build !js

package kubeconfig

import (
	"crypto/x509"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/secretfile"
)

// cluster sets the server URL and its TLS options in the configuration.
func (l *loader) cluster() error {
	c, http := l.config, l.config.HTTP
	fields := read(nil, "", &Error{})
	if c.Cluster != "" {
		found, err := l.find("cluster", c.Cluster)
		if err != nil && (l.Server == "" || l.Cluster != "") {
			return l.unknownError("cluster", l.Cluster, err)
		}
		if err == nil {
			l.server, fields = found, found.fields()
		}
	}
	c.Server = l.Server
	if c.Server == "" {
		c.Server = fields.string("server")
		if c.Server == "" {
			fields.fail("server", nil, "the value is missing")
		}
		http.ServerName = fields.string("tls-server-name")
	}
	if !strings.Contains(c.Server, "://") {
		c.Server = "http://" + c.Server
	}
	if l.ServerName != "" {
		http.ServerName = l.ServerName
	}
	l.authority(fields)
	http.Proxy = fields.string("proxy-url")
	if proxy, err := url.Parse(http.Proxy); http.Proxy != "" && (err != nil || proxy.Hostname() == "" || !isHTTP(proxy.Scheme)) {
		fields.fail("proxy-url", fields.members["proxy-url"], "the value must look like http://host:port, https://host:port or socks5://host:port")
	}
	http.DisableCompression = fields.boolean("disable-compression")
	l.clusterFields = fields
	return fields.err()
}

func isHTTP(scheme string) bool { return scheme == "http" || scheme == "https" || scheme == "socks5" }

// authority sets the options that control the verification of the server, for example the certificate authority.
func (l *loader) authority(fields *fields) {
	http := l.config.HTTP
	switch {
	case l.CAFile != "" && l.Insecure:
		fields.location = &Error{err: errors.New("a certificate authority cannot be combined with insecure-skip-tls-verify")}
		return
	case l.CAFile != "":
		http.CAFile = l.CAFile
		if err := fileHoldsCertificates(l.CAFile); err != nil {
			fields.location = &Error{field: "certificate-authority", err: err}
		}
		return
	case l.Insecure:
		http.InsecureSkipVerify = true
		return
	}
	http.InsecureSkipVerify = fields.boolean("insecure-skip-tls-verify")
	http.CAData = fields.data("certificate-authority-data")
	http.CAFile = fields.path("certificate-authority")
	name := "certificate-authority-data"
	var err error
	switch {
	case len(http.CAData) > 0:
		http.CAFile = ""
		if !holdCertificates(http.CAData) {
			err = errors.New("the value contains no PEM certificate")
		}
	case http.CAFile != "":
		name = "certificate-authority"
		err = fileHoldsCertificates(http.CAFile)
	default:
		return
	}
	if err != nil {
		fields.failField(name, fields.members[name], err)
	}
	if http.InsecureSkipVerify {
		fields.fail("insecure-skip-tls-verify", fields.members["insecure-skip-tls-verify"], "the value cannot be combined with "+name)
	}
}

func holdCertificates(text []byte) bool { return x509.NewCertPool().AppendCertsFromPEM(text) }

func fileHoldsCertificates(path string) error {
	text, err := secretfile.Read("certificate-authority file", path)
	if err == nil && !holdCertificates(text) {
		err = errors.New(short(path) + " contains no PEM certificate")
	}
	return err
}

// path returns the file path in a field, or "" if the field is missing. It resolves a relative path against the folder
// of the kubeconfig.
func (f *fields) path(name string) string {
	path := f.string(name)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	folder, err := filepath.Abs(filepath.Dir(f.location.File))
	if err != nil {
		f.failField(name, f.members[name], err)
	}
	return filepath.Join(folder, path)
}
