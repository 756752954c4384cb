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
	"math/big"
	"net"
	"net/http"
	"os"
	"time"
)

// Files of a cluster that only the API server reads.
const (
	serverCertFile     = "server.crt"
	serverKeyFile      = "server.key"
	clientCAFile       = "client-ca.crt"
	serviceAccountFile = "service-account.key"
	tokenFile          = "tokens.csv"
)

// keyPair is a certificate and its key. The zero value stands for no parent.
type keyPair struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	certPEM     []byte
	keyPEM      []byte
}

// newKey makes a key and returns it also in PEM. The type is "EC PRIVATE KEY", the only one of an elliptic curve from which
// kube-apiserver reads the public keys of service accounts too.
func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// issue makes a key and a certificate that parent signs, or that is its own parent if there is none.
func issue(template *x509.Certificate, parent keyPair) (keyPair, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return keyPair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return keyPair{}, err
	}
	// An hour back, in case the clock is set back during the test.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(24 * time.Hour)
	template.KeyUsage |= x509.KeyUsageDigitalSignature
	if parent.certificate == nil {
		parent = keyPair{certificate: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.certificate, key.Public(), parent.key)
	if err != nil {
		return keyPair{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return keyPair{}, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return keyPair{certificate: certificate, key: key, certPEM: certPEM, keyPEM: keyPEM}, nil
}

// issueWithCA makes a certificate authority and a certificate that it signs.
func issueWithCA(caName string, template *x509.Certificate) (ca, leaf keyPair, err error) {
	ca, err = issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: caName},
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}, keyPair{})
	if err != nil {
		return keyPair{}, keyPair{}, err
	}
	leaf, err = issue(template, ca)
	return ca, leaf, err
}

// writeCredentials makes all certificates, keys and tokens, and the client that Do uses. Servers and clients have a CA each,
// so that a mix-up of the two fails.
func (c *Cluster) writeCredentials() error {
	serverCA, server, err := issueWithCA("listwatch test server CA", &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	if err != nil {
		return err
	}
	// Kubernetes reads the user from CommonName and the groups from Organization.
	clientCA, admin, err := issueWithCA("listwatch test client CA", &x509.Certificate{
		Subject:     pkix.Name{CommonName: "cert-admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return err
	}
	_, serviceAccountPEM, err := newKey()
	if err != nil {
		return err
	}
	c.CAPEM, c.CAFile = serverCA.certPEM, c.path("ca.crt")
	c.ClientCertFile, c.ClientKeyFile = c.path("admin.crt"), c.path("admin.key")
	c.Kubeconfig = c.path("kubeconfig")
	c.AdminToken, c.NobodyToken = rand.Text(), rand.Text()
	c.client = c.HTTPClient()
	return writeFiles(map[string][]byte{
		c.CAFile:                   c.CAPEM,
		c.ClientCertFile:           admin.certPEM,
		c.ClientKeyFile:            admin.keyPEM,
		c.Kubeconfig:               c.kubeconfig(),
		c.path(serverCertFile):     server.certPEM,
		c.path(serverKeyFile):      server.keyPEM,
		c.path(clientCAFile):       clientCA.certPEM,
		c.path(serviceAccountFile): serviceAccountPEM,
		c.path(tokenFile):          c.tokens(),
	})
}

// tokens returns the file of bearer tokens: token, user, uid, groups.
func (c *Cluster) tokens() []byte {
	return fmt.Appendf(nil, "%s,admin,admin-uid,\"system:masters\"\n%s,nobody,nobody-uid\n",
		c.AdminToken, c.NobodyToken)
}

// writeFiles writes files that hold secrets.
func writeFiles(files map[string][]byte) error {
	for path, data := range files {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// kubeconfig returns a kubeconfig of the admin, as JSON, which is YAML as well.
func (c *Cluster) kubeconfig() []byte {
	type object = map[string]any
	config, err := json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []object{{"name": "test", "cluster": object{"server": c.URL, "certificate-authority-data": c.CAPEM}}},
		"users":    []object{{"name": "admin", "user": object{"token": c.AdminToken}}},
		"contexts": []object{{"name": "test", "context": object{"cluster": "test", "user": "admin"}}},
	}, "", "  ")
	if err != nil {
		panic(err) // maps of strings and bytes always marshal
	}
	return config
}

// HTTPClient returns a new client that trusts the API server and carries no credentials of a user. The caller closes its
// idle connections.
func (c *Cluster) HTTPClient() *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CAPEM)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // everything is on loopback
	transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	return &http.Client{Transport: transport}
}
