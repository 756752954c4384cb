package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

// front describes how clients connect to the server of a trial, and which faults the connections have. The faults end
// when the server begins to behave correctly.
type front struct {
	scheme  string        // of the URL that drivers get: http, https, or ws for watches over WebSocket
	closes  bool          // whether the server closes each connection after one response, in HTTP/2 with GOAWAY
	freezes time.Duration // time after which a connection stops passing data without being closed; zero means never
	wrong   string        // kind of wrong certificate in every other TLS handshake, or "" if all are correct
}

// Kinds of invalid certificates; see front.wrong.
const (
	unknownAuthority = "an unknown authority's certificate"
	expired          = "an expired certificate"
	otherHost        = "another host's certificate"
)

// gate makes a trial's server reachable over TCP and, for https, over TLS.
type gate struct {
	net.Listener
	front
	server       *hostile.Server
	certificates map[string]*tls.Certificate // by kind; the correct one has the kind ""

	mu         sync.Mutex      // guards the following fields
	handshakes int             // number of TLS handshakes
	misled     map[string]bool // remote addresses of connections with a wrong certificate
	trusting   string          // the first request over a connection with a wrong certificate, or "" if the client sent none
}

// open returns a gate that accepts connections, and the environment variables that drivers need to verify its certificate.
// folder receives the file with the trusted certificates.
func (f front) open(folder string) (g *gate, env []string, err error) {
	g = &gate{front: f, certificates: map[string]*tls.Certificate{}, misled: map[string]bool{}}
	if g.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil || f.scheme != "https" {
		return g, nil, err
	}
	tomorrow, yesterday := time.Now().AddDate(0, 0, 1), time.Now().AddDate(0, 0, -1)
	var trusted []byte
	for kind, c := range map[string]struct {
		address string
		until   time.Time
	}{"": {"127.0.0.1", tomorrow}, unknownAuthority: {"127.0.0.1", tomorrow}, expired: {"127.0.0.1", yesterday}, otherHost: {"192.0.2.1", tomorrow}} {
		if g.certificates[kind], err = selfSigned(kind, c.address, c.until); err != nil {
			return nil, nil, err
		}
		if kind != unknownAuthority { // each of the other wrong certificates has only one fault: its date or its address
			trusted = append(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.certificates[kind].Certificate[0]})...)
		}
	}
	file := filepath.Join(folder, "ca.pem")
	// Go on Linux reads the first variable, and Node reads the second one.
	return g, []string{"SSL_CERT_FILE=" + file, "NODE_EXTRA_CA_CERTS=" + file}, os.WriteFile(file, trusted, 0o600)
}

// selfSigned returns a certificate that is its own authority.
func selfSigned(name, address string, until time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: "conformance " + name}, IPAddresses: []net.IP{net.ParseIP(address)}, NotBefore: time.Now().AddDate(0, 0, -2), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// serve serves the trial until stop is called.
func (g *gate) serve(server *hostile.Server) (url string, stop func()) {
	g.server = server
	// A client that resumes a TLS session does not verify the certificate again.
	config := &tls.Config{GetCertificate: g.certificate, SessionTicketsDisabled: true}
	// The server would log each handshake that fails because of a wrong certificate.
	web := &http.Server{Handler: g, TLSConfig: config, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		if g.scheme == "https" {
			_ = web.ServeTLS(g, "", "")
		} else {
			_ = web.Serve(g)
		}
	}()
	return g.scheme + "://" + g.Addr().String(), func() { _ = web.Close() }
}

func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err == nil && g.freezes > 0 && !g.server.Behaves() {
		conn = &freezing{conn, time.Now().Add(g.freezes)}
	}
	return conn, err
}

// certificate chooses the server's certificate. The first handshake gets the correct certificate, so that the client
// can reach the server at least once.
func (g *gate) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	correct := g.handshakes%2 == 0 || g.wrong == "" || g.server.Behaves()
	g.handshakes++
	g.misled[hello.Conn.RemoteAddr().String()] = !correct // a later connection may have the same port
	if correct {
		return g.certificates[""], nil
	}
	return g.certificates[g.wrong], nil
}

// discovery contains the responses that clients such as kubectl need to find the resource.
var discovery = map[string]string{
	"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["get","list","watch"]}]}`,
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	if g.misled[r.RemoteAddr] && g.trusting == "" {
		g.trusting = r.URL.Path
	}
	g.mu.Unlock()
	if g.closes && !g.server.Behaves() {
		w.Header().Set("Connection", "close") // net/http also sends GOAWAY then, if the connection uses HTTP/2
	}
	if text, ok := discovery[r.URL.Path]; ok {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
		return
	}
	g.server.ServeHTTP(w, r)
}

// misused describes the first request that the client sent over a connection with a wrong certificate. It returns "" if
// the client sent no such request.
func (g *gate) misused() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trusting == "" {
		return ""
	}
	return "the client requested " + g.trusting + " from a server with " + g.wrong
}

// freezing is a connection through which nothing passes after a time, as if its route had disappeared. It discards all
// later data, and returns no error as long as the client keeps the connection open.
type freezing struct {
	net.Conn
	at time.Time
}

func (f *freezing) Read(p []byte) (int, error) {
	for {
		if n, err := f.Conn.Read(p); err != nil || time.Now().Before(f.at) {
			return n, err
		}
	}
}

func (f *freezing) Write(p []byte) (int, error) {
	if time.Now().Before(f.at) {
		return f.Conn.Write(p)
	}
	return len(p), nil
}
