//go:build !js

package kubeconfig

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/seed-6d2a410a/listwatch/transport/internal/secretfile"
)

// cluster sets the server URL and its TLS options in the configuration.
func (l *loader) cluster(fields *fields) {
	c, http := l.config, l.config.HTTP
	l.clusterFields, c.Server = fields, l.Server
	if c.Server == "" {
		c.Server = fields.string("server")
		if c.Server == "" {
			fields.fail("server", "the value is missing")
		}
		http.ServerName = fields.string("tls-server-name")
	}
	if !strings.Contains(c.Server, "://") { // as in kubectl, even with a certificate authority
		c.Server = "http://" + c.Server
	}
	http.ServerName = cmp.Or(l.ServerName, http.ServerName)
	l.authority(fields)
	http.Proxy = fields.string("proxy-url")
	http.DisableCompression = fields.boolean("disable-compression")
}

// authority sets the certificate authority and InsecureSkipVerify. If the options set one of the two, the kubeconfig's
// values for both are ignored.
func (l *loader) authority(fields *fields) {
	http := l.config.HTTP
	if http.InsecureSkipVerify = l.Insecure; l.Insecure || l.CAFile != "" {
		fields = l.values(Error{}, map[string]string{"certificate-authority": l.CAFile})
	} else {
		http.InsecureSkipVerify = fields.boolean("insecure-skip-tls-verify")
	}
	name, text := fields.pem("certificate-authority", &http.CAFile, &http.CAData)
	switch {
	case name == "":
	case !x509.NewCertPool().AppendCertsFromPEM(text):
		fields.fail(name, cmp.Or(short(http.CAFile), "the value")+" contains no PEM certificate")
	case http.InsecureSkipVerify:
		fields.fail("insecure-skip-tls-verify", "the value cannot be combined with "+name)
	}
}

// user sets the impersonation headers and the credentials of the user. As in kubectl, the kubeconfig's credentials are
// sent only over https.
func (l *loader) user(fields *fields) {
	l.impersonate(fields)
	target, err := url.Parse(l.config.Server)
	switch {
	case l.Token != "":
		l.credentials(l.values(Error{}, map[string]string{"token": l.Token}))
	case err == nil && target.Scheme == "https":
		l.credentials(fields)
	}
}

// credentials sets the credentials from the fields of a user. A plugin is used only if there is no token and no client
// certificate.
func (l *loader) credentials(fields *fields) {
	http := l.config.HTTP
	if fields.members["username"] != nil || fields.members["password"] != nil {
		fields.fail("username", "Kubernetes no longer supports basic authentication: use a token, a client certificate or exec")
	}
	if fields.members["auth-provider"] != nil {
		fields.fail("auth-provider", "Kubernetes no longer supports it: use exec with a credential plugin such as gke-gcloud-auth-plugin or kubelogin")
	}
	http.Token, http.TokenFile = fields.string("token"), fields.path("tokenFile")
	// These characters are invalid in an Authorization header.
	if strings.ContainsFunc(http.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		fields.fail("token", "the value contains an invalid character")
	}
	if http.TokenFile != "" {
		text, err := secretfile.Read("token file", http.TokenFile)
		if err == nil && strings.TrimSpace(string(text)) == "" {
			err = errors.New("the file is empty")
		}
		switch {
		case err == nil:
			http.Token = "" // the token file overrides the token, because it may be newer
		case http.Token != "":
			http.TokenFile = "" // an unreadable token file is not a mistake if there is a token
		default:
			fields.failIf("tokenFile", err)
		}
	}
	l.certificate(fields)
	if fields.members["exec"] != nil && http.Token == "" && http.TokenFile == "" && len(http.CertData) == 0 && http.CertFile == "" {
		l.exec(fields.group("exec"))
	}
}

// certificate sets the client certificate and its key.
func (l *loader) certificate(fields *fields) {
	http := l.config.HTTP
	certName, cert := fields.pem("client-certificate", &http.CertFile, &http.CertData)
	keyName, key := fields.pem("client-key", &http.KeyFile, &http.KeyData)
	switch {
	case certName == "" && keyName == "":
		return
	case certName == "":
		fields.fail("client-certificate", "the value is required with client-key")
	case keyName == "":
		fields.fail("client-key", "the value is required with client-certificate")
	}
	_, err := tls.X509KeyPair(cert, key)
	fields.failIf(certName, err) // the error quotes only the types of PEM blocks
	// The certificate and the key must both be inline data or both be files.
	if len(http.CertData) > 0 || len(http.KeyData) > 0 {
		http.CertFile, http.KeyFile, http.CertData, http.KeyData = "", "", cert, key
	}
}

// pem reads PEM data, either inline from the field name+"-data" or from the file whose path is in the field `name`.
// Inline data takes precedence. pem stores the inline data in *data, or the path in *path. It returns the PEM data and
// the name of the field that contains the data or the path. If both fields are missing, the name is "".
func (f *fields) pem(name string, path *string, data *[]byte) (found string, text []byte) {
	if *data = f.data(name + "-data"); len(*data) > 0 {
		return name + "-data", *data
	}
	if *path = f.path(name); *path == "" {
		return "", nil
	}
	text, err := secretfile.Read(name+" file", *path)
	f.failIf(name, err)
	return name, text
}

// impersonate sets the request headers that impersonate a user.
func (l *loader) impersonate(fields *fields) {
	if l.As != "" {
		fields = l.values(Error{}, map[string]string{"as": l.As})
	}
	user, uid, groups, extra := fields.string("as"), fields.string("as-uid"), fields.strings("as-groups"), fields.group("as-user-extra")
	if len(l.AsGroups) > 0 {
		groups = l.AsGroups
	}
	if user == "" {
		switch {
		case len(l.AsGroups) > 0:
			l.fail(Error{err: errors.New("impersonating a group requires a user")})
		case uid != "" || len(groups) > 0 || len(extra.members) > 0:
			fields.fail("as", "the value is required if as-uid, as-groups or as-user-extra is set")
		}
		return
	}
	header := map[string][]string{"Impersonate-User": {user}, "Impersonate-Group": groups}
	if uid != "" {
		header["Impersonate-Uid"] = []string{uid}
	}
	for key := range extra.members {
		header[textproto.CanonicalMIMEHeaderKey("Impersonate-Extra-"+notInHeaders.Replace(url.PathEscape(key)))] = extra.strings(key)
	}
	l.config.HTTP.Header = header
}

// notInHeaders escapes those characters that are valid in a URL path but not in a header name. impersonate needs it
// because the name of an extra field becomes part of a header name, which servers unescape.
var notInHeaders = strings.NewReplacer(":", "%3A", "=", "%3D", "@", "%40")
