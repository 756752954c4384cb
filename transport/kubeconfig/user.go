//go:build !js

package kubeconfig

import (
	"crypto/tls"
	"errors"
	"net/url"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/secretfile"
)

// user sets the credentials of the user and the impersonation headers.
func (l *loader) user() error {
	c, http := l.config, l.config.HTTP
	fields := read(nil, "", &Error{})
	if c.User != "" {
		found, err := l.find("user", c.User)
		if err != nil && (l.Token == "" || l.User != "") {
			return l.unknownError("user", l.User, err)
		}
		if err == nil {
			fields = found.fields()
		}
	}
	l.impersonate(fields)
	if target, err := url.Parse(c.Server); err == nil && target.Scheme == "https" && l.Token == "" {
		l.credentials(fields)
	}
	if !isToken(http.Token) {
		fields.fail("token", fields.members["token"], "the value contains an invalid character")
	}
	if !isToken(l.Token) {
		return &Error{err: errors.New("the token contains an invalid character")}
	}
	http.Token += l.Token
	if err := fields.err(); err != nil {
		return err
	}
	return l.clusterFields.err() // the method exec may have found a mistake in the cluster when it read the cluster for provideClusterInfo
}

// isToken reports whether text is valid in an Authorization header.
func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// credentials sets the credentials that the kubeconfig contains.
func (l *loader) credentials(fields *fields) {
	http := l.config.HTTP
	if fields.has("username") || fields.has("password") {
		fields.fail("username", fields.members["username"], "Kubernetes no longer supports basic authentication: use a token, a client certificate or exec")
	}
	if fields.has("auth-provider") {
		fields.fail("auth-provider", fields.members["auth-provider"], "Kubernetes no longer supports it: use exec with a credential plugin such as gke-gcloud-auth-plugin or kubelogin")
	}
	http.Token, http.TokenFile = fields.string("token"), fields.path("tokenFile")
	if http.TokenFile != "" {
		text, err := secretfile.Read("token file", http.TokenFile)
		if err == nil && strings.TrimSpace(string(text)) == "" {
			err = errors.New("the file is empty")
		}
		switch {
		case err == nil:
			http.Token = "" // the token file overrides the token, because it may be newer
		case http.Token != "":
			http.TokenFile = ""
		default:
			fields.failField("tokenFile", fields.members["tokenFile"], err)
		}
	}
	l.certificate(fields)
	if fields.has("exec") && http.Token == "" && http.TokenFile == "" && len(http.CertData) == 0 && http.CertFile == "" {
		l.exec(fields.group("exec"))
	}
}

// certificate sets the client certificate and its key.
func (l *loader) certificate(fields *fields) {
	http := l.config.HTTP
	cert := fields.pem("client-certificate", &http.CertFile, &http.CertData)
	key := fields.pem("client-key", &http.KeyFile, &http.KeyData)
	if (cert.name == "") != (key.name == "") {
		missing, other := "client-key", "client-certificate"
		if cert.name == "" {
			missing, other = other, missing
		}
		fields.fail(missing, nil, "the value is required with "+other)
	}
	if cert.name == "" || fields.location.err != nil {
		return
	}
	if _, err := tls.X509KeyPair(cert.text, key.text); err != nil {
		fields.failField(cert.name, fields.members[cert.name], err) // the error quotes only the types of PEM blocks
	}
	if len(http.CertData) > 0 || len(http.KeyData) > 0 { // the certificate and the key must both be inline data or both be files
		http.CertFile, http.KeyFile, http.CertData, http.KeyData = "", "", cert.text, key.text
	}
}

// pemField contains PEM data and the name of the field from which it was read.
type pemField struct {
	name string
	text []byte
}

// pem reads the PEM data of a field. Inline data in the field name+"-data" takes precedence over the file whose path is
// in the field name. pem stores the inline data in *data, or the path in *path.
func (f *fields) pem(name string, path *string, data *[]byte) pemField {
	if *data = f.data(name + "-data"); len(*data) > 0 {
		return pemField{name + "-data", *data}
	}
	if *path = f.path(name); *path == "" {
		return pemField{}
	}
	text, err := secretfile.Read(name+" file", *path)
	if err != nil {
		f.failField(name, f.members[name], err)
	}
	return pemField{name, text}
}
