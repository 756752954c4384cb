//go:build !js

package http_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/canary"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// echoes returns encodings in which a server or a gateway may send a token back. The keys are the names of the
// encodings.
func echoes(token string) map[string]string {
	return map[string]string{
		"plain": token, "query": url.QueryEscape(token), "path": url.PathEscape(token), "cut": token[:len(token)/2],
		"base64url": base64.RawURLEncoding.EncodeToString([]byte(token)),
		"base64":    base64.StdEncoding.EncodeToString([]byte("Bearer " + token)),
	}
}

// A server may repeat the token in any string of a Status, in an HTML page, or at the end of a truncated message.
func TestErrorResponsesShowNoToken(t *testing.T) {
	secrets := canary.Secrets{}
	token := secrets.New("token")
	answers := map[string]string{
		"page":   "no: %s\nmore",
		"long":   strings.Repeat("x", 185) + " %s",
		"kind":   `{"kind":"Status","message":"no %[1]s","reason":"%[1]s","status":"%[1]s","metadata":{"continue":"%[1]s"}}`,
		"causes": `{"kind":"Status","details":{"name":"%[1]s","group":"%[1]s","kind":"%[1]s","causes":[{"reason":"%[1]s","message":"%[1]s","field":"%[1]s"}]}}`,
		"broken": `{"kind":"Status","message":"no %s`,
	}
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		_, _ = fmt.Fprintf(w, answers[r.URL.Query().Get("answer")], echoes(sent)[r.URL.Query().Get("form")])
	}, func(t *testing.T, server *httptest.Server, _ *lwhttp.Transport) {
		opts := trust(server)
		opts.Token = token
		transport := connect(t, server, opts)
		for answer := range answers {
			for form := range echoes(token) {
				_, err := get(t, transport, requestFor("/", "answer="+answer+"&form="+form))
				status, ok := errors.AsType[*lw.StatusError](err)
				require.True(t, ok, err)
				require.ErrorIs(t, err, lw.ErrForbidden)
				type fields lw.StatusError // fields has no method Error, so fmt prints all fields
				secrets.Absent(t, answer+" "+form, fmt.Sprintf("%v %+v", err, fields(*status)))
				require.Contains(t, fmt.Sprintf("%+v", fields(*status)), "…")
			}
		}
	})
}

// After a retry with a new token, the response repeats the tokens of both attempts. Both must be redacted.
func TestEarlierTokensAreRedacted(t *testing.T) {
	secrets, asked := canary.Secrets{}, 0
	first, second := secrets.New("first"), secrets.New("second")
	network := roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 401, Body: io.NopCloser(strings.NewReader("neither " + first + " nor " + second))}, nil
	})
	transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{Client: &http.Client{Transport: network}, TokenFunc: func(context.Context) (string, error) {
		asked++
		return []string{first, second}[asked-1], nil
	}})
	require.NoError(t, err)
	_, err = get(t, transport, pods)
	require.EqualError(t, err, "the server answered 401: neither … nor …")
}

// A secret in a custom header must be redacted. A user name in an impersonation header must not be redacted.
func TestHeadersAreRedacted(t *testing.T) {
	secrets := canary.Secrets{}
	key := secrets.New("key")
	network := roundTripper(func(r *http.Request) (*http.Response, error) {
		text := "jane.doe@example.com may not: " + r.Header.Get("X-Api-Key") + r.Header.Get("Cookie")
		return &http.Response{StatusCode: 403, Body: io.NopCloser(strings.NewReader(text))}, nil
	})
	transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{Client: &http.Client{Transport: network},
		Header: http.Header{"X-Api-Key": {key}, "Cookie": {"a=b; " + key}, "Impersonate-User": {"jane.doe@example.com"}}})
	require.NoError(t, err)
	_, err = get(t, transport, pods)
	require.EqualError(t, err, "the server answered 403: jane.doe@example.com may not: …a=b; …")
}

func TestRedirectsShowNoToken(t *testing.T) {
	secrets := canary.Secrets{}
	token := secrets.New("token")
	secrets.Add("a host", "eyjhbgcioi0123")
	secrets.Add("A host", "eyJhbGciOi0123")
	server := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	for _, c := range []struct{ token, target string }{
		{token, "http://127.0.0.1:1/" + token}, {token, "http://127.0.0.1:1/" + url.PathEscape(token)},
		{"eyjhbgcioi0123", "http://eyjhbgcioi0123.invalid/"}, {token, "/" + strings.Repeat("%zz", 3) + token},
	} {
		transport := connect(t, server, &lwhttp.Options{Token: c.token})
		var reported strings.Builder
		ctx := lw.WithTrace(t.Context(), &lw.Trace{Redirected: func(origin string) { reported.WriteString(origin) }})
		_, err := transport.Open(ctx, requestFor("/", "to="+url.QueryEscape(c.target)))
		require.Error(t, err)
		for ; err != nil; err = errors.Unwrap(err) {
			secrets.Absent(t, c.target, fmt.Sprintf("%v %+v %#v", err, err, err))
		}
		secrets.Absent(t, c.target, reported.String())
	}
}

// net/http quotes an invalid status line in its error, and the status line may contain the token.
func TestInvalidResponsesShowNoToken(t *testing.T) {
	secrets := canary.Secrets{}
	token := secrets.New("token")
	for _, line := range []string{"HTTP/1.1 " + token, token + " 200 OK", "HTTP/1.1 200 OK\r\n" + token, "HTTP/1.1 200 OK\r\nContent-Length: " + token} {
		server := "http://" + answering(t, line+"\r\n\r\n")
		transport, err := lwhttp.New(server, &lwhttp.Options{Token: token})
		require.NoError(t, err)
		_, err = get(t, transport, pods)
		require.ErrorContains(t, err, "…")
		for ; err != nil; err = errors.Unwrap(err) {
			secrets.Absent(t, line, fmt.Sprintf("%v %+v %#v", err, err, err))
		}
		transport.Close()
	}
}

// answering starts a TCP server that sends answer after every request header. It returns the server's address.
func answering(t *testing.T, answer string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for line, err := in.ReadString('\n'); err == nil && line != "\r\n"; line, err = in.ReadString('\n') {
				}
				_, _ = io.WriteString(conn, answer)
			}()
		}
	}()
	return listener.Addr().String()
}

// If a proxy rejects CONNECT, net/http's error contains the status text, which may repeat the proxy password.
func TestProxyStatusLineShowsNoPassword(t *testing.T) {
	secrets := canary.Secrets{}
	password := secrets.New("password")
	basic := base64.StdEncoding.EncodeToString([]byte("jane:" + password))
	for _, said := range []string{password, "Basic " + basic, url.QueryEscape(password)} {
		proxy := url.URL{Scheme: "http", User: url.UserPassword("jane", password), Host: answering(t, "HTTP/1.1 407 you are "+said+"\r\n\r\n")}
		dialer := &http.Transport{Proxy: http.ProxyURL(&proxy)}
		for _, opts := range []*lwhttp.Options{{Proxy: proxy.String()}, {Client: &http.Client{Transport: dialer}}} {
			transport, err := lwhttp.New("https://k8s.example", opts)
			require.NoError(t, err)
			_, err = get(t, transport, pods)
			require.ErrorContains(t, err, "you are")
			require.ErrorContains(t, err, "…")
			secrets.Absent(t, said, fmt.Sprintf("%v %+v %#v", err, err, err))
			transport.Close()
		}
	}
}

// A server can repeat the token in the debug data of an HTTP/2 GOAWAY frame, which net/http includes in its error.
func TestGoAwayShowsNoToken(t *testing.T) {
	secrets := canary.Secrets{}
	token := secrets.New("token")
	frame := func(kind, flags, stream byte, payload string) string {
		return string([]byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, stream}) + payload
	}
	const settings, headers, goAway, endHeaders = 4, 1, 7, 4
	authority := certs.NewAuthority(t)
	config := authority.Config(t, "api.test", "127.0.0.1")
	config.NextProtos = []string{"h2"}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, frame(settings, 0, 0, ""))
		in, header := bufio.NewReader(conn), make([]byte, 9)
		_, _ = in.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		for header[3] != headers {
			if _, err := io.ReadFull(in, header); err != nil {
				return
			}
			_, _ = in.Discard(int(header[0])<<16 | int(header[1])<<8 | int(header[2]))
		}
		_, _ = io.WriteString(conn, frame(headers, endHeaders, 1, "\x88")+frame(goAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x02"+token))
	}()
	transport, err := lwhttp.New("https://"+listener.Addr().String(), &lwhttp.Options{Token: token, CAData: authority.PEM})
	require.NoError(t, err)
	defer transport.Close()
	_, err = get(t, transport, pods)
	require.ErrorContains(t, err, "…")
	secrets.Absent(t, "GOAWAY", fmt.Sprintf("%v %+v %#v", err, err, err))
}
