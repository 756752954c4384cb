package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// Files in the cluster's folder that only the API server reads.
const (
	serverCertFile     = "server.crt"
	serverKeyFile      = "server.key"
	clientCAFile       = "client-ca.crt"
	serviceAccountFile = "service-account.key"
	tokenFile          = "tokens.csv"
)

// keyPair is a certificate and its private key.
type keyPair struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func (p keyPair) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw})
}

// keyPEM encodes key in a PEM block of type "EC PRIVATE KEY". kube-apiserver accepts no other type for an
// elliptic-curve service account key.
func keyPEM(key *ecdsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: must(x509.MarshalECPrivateKey(key))})
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// must returns value. It panics if err is not nil, which would be a bug in this package.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// issue returns a new key and a certificate for it, signed by parent. If parent is nil, the certificate is self-signed.
func issue(template *x509.Certificate, parent *keyPair) *keyPair {
	key := newKey()
	// The certificate stays valid if the clock is set back by up to an hour.
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	template.KeyUsage |= x509.KeyUsageDigitalSignature
	if parent == nil {
		parent = &keyPair{template, key}
	}
	der := must(x509.CreateCertificate(rand.Reader, template, parent.certificate, key.Public(), parent.key))
	return &keyPair{must(x509.ParseCertificate(der)), key}
}

// issueWithCA returns a new certificate authority and a certificate signed by it.
func issueWithCA(caName string, template *x509.Certificate) (ca, leaf *keyPair) {
	ca = issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: caName},
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}, nil)
	return ca, issue(template, ca)
}

// writeCredentials writes the certificates, keys and tokens to files that only the current user can read. It also creates
// c.client. Server and client certificates have different CAs, so a test that confuses the CAs fails.
func (c *Cluster) writeCredentials() error {
	serverCA, server := issueWithCA("listwatch test server CA", &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	// Kubernetes reads the user name from CommonName and the groups from Organization.
	clientCA, admin := issueWithCA("listwatch test client CA", &x509.Certificate{
		Subject:     pkix.Name{CommonName: "cert-admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	c.CAPEM, c.CAFile = serverCA.certPEM(), c.path("ca.crt")
	c.ClientCertFile, c.ClientKeyFile = c.path("admin.crt"), c.path("admin.key")
	c.Kubeconfig = c.path("kubeconfig")
	c.AdminToken, c.NobodyToken = rand.Text(), rand.Text()
	c.client = c.HTTPClient()
	files := map[string][]byte{
		c.CAFile:                   c.CAPEM,
		c.ClientCertFile:           admin.certPEM(),
		c.ClientKeyFile:            keyPEM(admin.key),
		c.Kubeconfig:               c.kubeconfig(),
		c.path(serverCertFile):     server.certPEM(),
		c.path(serverKeyFile):      keyPEM(server.key),
		c.path(clientCAFile):       clientCA.certPEM(),
		c.path(serviceAccountFile): keyPEM(newKey()),
		c.path(tokenFile):          c.tokens(),
	}
	for path, data := range files {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// tokens returns a token file for kube-apiserver. Each line contains a token, a user name, a UID and optional groups.
func (c *Cluster) tokens() []byte {
	return fmt.Appendf(nil, "%s,admin,admin-uid,\"system:masters\"\n%s,nobody,nobody-uid\n",
		c.AdminToken, c.NobodyToken)
}

// kubeconfig returns a kubeconfig for the user admin. It is written as JSON, which is valid YAML.
func (c *Cluster) kubeconfig() []byte {
	type object = map[string]any
	return must(json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []object{{"name": "test", "cluster": object{"server": c.URL, "certificate-authority-data": c.CAPEM}}},
		"users":    []object{{"name": "admin", "user": object{"token": c.AdminToken}}},
		"contexts": []object{{"name": "test", "context": object{"cluster": "test", "user": "admin"}}},
	}, "", "  "))
}

// HTTPClient returns a new client that trusts the API server's CA and sends no credentials. After use, the caller must
// call CloseIdleConnections.
func (c *Cluster) HTTPClient() *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the API server is on loopback
	transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	return &http.Client{Transport: transport}
}
