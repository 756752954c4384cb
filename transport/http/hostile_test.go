//go:build !js

package http_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// maxHeap is the maximum heap growth during one response, in bytes. It leaves room for the copies that net/http makes
// of the largest header.
const maxHeap = 8 << 20

// raw starts a TCP server and returns its URL. The server reads a request header, or the HTTP/2 preface, and then
// writes the bytes of a [memory.Endless] with the given fields.
func raw(t *testing.T, config *tls.Config, heap *memory.Heap, most int64, first, then string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	scheme := "http://"
	if config != nil {
		listener, scheme = tls.NewListener(listener, config), "https://"
	}
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
				go func() { _, _ = io.Copy(io.Discard, in) }()
				endless := &memory.Endless{First: first, Then: then, Most: most, Heap: heap}
				_, _ = io.CopyBuffer(conn, struct{ io.Reader }{endless}, make([]byte, 16<<10))
			}()
		}
	}()
	return scheme + listener.Addr().String()
}

// Invalid responses must fail with an error of net/http and use a limited amount of memory.
func TestInvalidResponsesUseBoundedMemory(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct{ first, then string }{
		"endless status line":                  {"HTTP/1.1 200 ", "x"},
		"endless header value":                 {ok + "X: ", "x"},
		"endless header name":                  {ok, "x"},
		"endless headers":                      {ok, "X-Header: value\r\n"},
		"endless informational responses":      {"", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"},
		"endless Location":                     {"HTTP/1.1 302 Found\r\nLocation: /", "x"},
		"endless chunk size":                   {chunked, "0"},
		"endless chunk extension":              {chunked + "5;", "x"},
		"endless chunks with large extensions": {chunked, "1;" + strings.Repeat("x", 1000) + "\r\n \r\n"},
		"endless trailer value":                {chunked + "0\r\nX: ", "x"},
		"endless trailers":                     {chunked + "0\r\n", "X: y\r\n"},
		"endless gzip comment":                 {ok + "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\x03", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			heap := memory.NewHeap()
			transport, err := lwhttp.New(raw(t, nil, heap, 24<<20, c.first, c.then), nil)
			require.NoError(t, err)
			defer transport.Close()
			body, err := transport.Open(t.Context(), pods)
			if err == nil {
				_, err = io.Copy(io.Discard, body)
				require.NoError(t, body.Close())
			} else {
				var failed *url.Error
				require.ErrorAs(t, err, &failed)
			}
			require.Error(t, err)
			require.NotErrorIs(t, err, memory.ErrEnough)
			require.Less(t, heap.Grown(), int64(maxHeap))
		})
	}
}

// The server sends an endless HTTP/2 header in CONTINUATION frames.
func TestEndlessHTTP2Header(t *testing.T) {
	frame := func(kind, flags byte, stream byte, payload string) string {
		n := len(payload)
		return string([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, 0, 0, 0, stream}) + payload
	}
	const settings, headers, continuation = 4, 1, 9
	field := "\x00\x01x\x7f\x80\x01" + strings.Repeat("y", 255) // HPACK encoding of "x: y…" without table entries
	authority := certs.NewAuthority(t)
	config := authority.Config(t, "api.test", "127.0.0.1")
	config.NextProtos = []string{"h2"}
	heap := memory.NewHeap()
	server := raw(t, config, heap, 24<<20, frame(settings, 0, 0, "")+frame(headers, 0, 1, "\x88"), frame(continuation, 0, 1, field))
	transport, err := lwhttp.New(server, &lwhttp.Options{CAData: authority.PEM})
	require.NoError(t, err)
	defer transport.Close()
	_, err = transport.Open(t.Context(), pods)
	var failed *url.Error
	require.ErrorAs(t, err, &failed)
	require.Less(t, heap.Grown(), int64(maxHeap))
}

// The transport must decompress only as much as the caller reads, so that a small compressed response cannot fill the
// memory.
func TestDecompressionBomb(t *testing.T) {
	heap := memory.NewHeap()
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		event := &memory.Endless{First: `{"items":[{"metadata":{"name":"`, Then: "x", Most: 16 << 20, Heap: heap}
		_, _ = io.CopyBuffer(zip, struct{ io.Reader }{event}, make([]byte, 64<<10))
	}, func(t *testing.T, _ *httptest.Server, transport *lwhttp.Transport) {
		client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, &lw.ClientOptions{MaxFrame: 1 << 20})
		require.NoError(t, err)
		page := client.List(t.Context(), lw.ListOptions{})
		for _, err = range page.Objects {
		}
		require.ErrorIs(t, err, lw.ErrTooLarge)
		require.ErrorContains(t, err, "at byte 10: expected an event or a list item of at most 1048576 bytes")
		require.Less(t, heap.Grown(), int64(maxHeap))
	})
}

// Empty gzip members contain no data, so a read does not return as long as a server sends them. During that time, the
// read must use a limited amount of memory.
func TestEmptyGzipMembers(t *testing.T) {
	var empty bytes.Buffer
	require.NoError(t, gzip.NewWriter(&empty).Close())
	heap := memory.NewHeap()
	server := raw(t, nil, heap, 2<<20, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99999999999\r\n\r\n", empty.String())
	transport, err := lwhttp.New(server, nil)
	require.NoError(t, err)
	defer transport.Close()
	_, err = get(t, transport, pods)
	require.Error(t, err, "the read must fail when the server stops after 2 MiB")
	require.Less(t, heap.Grown(), int64(maxHeap))
}

func TestEndlessRedirects(t *testing.T) {
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		target := "/again"
		if r.URL.Query().Has("on") {
			target = r.URL.Path + "x?on"
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) // a body that net/http partly reads in order to reuse the connection
	}, func(t *testing.T, _ *httptest.Server, transport *lwhttp.Transport) {
		for _, query := range []string{"", "on"} {
			_, err := get(t, transport, requestFor("/", query))
			require.ErrorContains(t, err, "stopped after 10 redirects")
		}
	})
}

// A query may contain secrets. Errors must not contain the query of a request or a redirect, or an invalid Location
// header.
func TestErrorsShowNoQueries(t *testing.T) {
	server := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	transport := connect(t, server, nil)
	for _, target := range []string{
		"http://127.0.0.1:1/login?token=pa55word", "http://jane:pa55word@127.0.0.1:1/", "http://127.0.0.1:1/#pa55word", "%zz?pa55word",
		"ftp://127.0.0.1/?pa55word", "http://127.0.0.1:1:1/?pa55word", "http://[::1/?pa55word",
	} {
		_, err := get(t, transport, requestFor("/", "to="+url.QueryEscape(target)+"&mine=pa55word"))
		require.Error(t, err, target)
		require.NotContains(t, err.Error(), "pa55word", target)
	}
}
